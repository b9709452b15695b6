"""Abbreviations whose full stop ends no sentence, in the languages that write them with one.

Kept in small letters. A word is looked up as it stands, with its inner stops and without the last one.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\S+", text))


NEVER_LAST = _words(
    """
    mr mrs ms mx messrs dr drs prof profs st ste mt gen col sgt capt cpt lt maj cmdr adm rep sen gov pres hon rev fr
    sr.a vs viz cf e.g i.e eg ie approx est dept univ assn bros ca al esp incl excl
    jan feb mar apr jun jul aug sep sept oct okt nov dec dez
    bzw z.b d.h d.i u.a.m hr frl str ggf evtl inkl zzgl vgl sog gem med kath ev dipl ing hrsg geb gest bspw
    m mm mme mmes mlle mgr vd env av
    sra srta dra dña ud uds lic arq ing excmo exmo ee
    dott dott.ssa avv arch geom dir amm sig sig.ra sigg on psicol es fam spett egr gent
    dhr mevr mw drs ir bijv bv resp
    skt hhv bl.a f.eks t.ex
    np tzn tzw ul al prof
    napr např tzv mudr judr phdr
    ул вул пр просп пл бул пер наб кв пгт пос им проф акад доц д-р тов гр см рис табл журн вид див чл ред напр
    т.е т.к т.н т.з рис
    δρ κ κα πχ π.χ
    डॉ श्री श्रीमती प्रो ഡോ മി പ്രൊ
    """
)
"""Those that something always follows: titles, `e.g.`, months, streets."""

BEFORE_NUMBERS = _words(
    """
    no nos nr nrs n° nº num núm p pp pg pag pgs vol vols fig figs sec secs ch chap ed eq eqs app tab art arts abs kap bd
    s str ft in lb lbs oz yd mi hrs min blz стр стор ст разд гл п год хв रु
    """
)
"""Those that end no sentence in front of a number."""

MAYBE_LAST = _words(
    """
    co corp inc ltd llc plc jr sr esq etc usw etc itd itp atd ecc cia gmbh mio mrd tsd тыс млн млрд гг
    """
)
"""Those that end a sentence only in front of a word that begins one."""

TIMES = _words("a.m p.m am pm")

ERAS = _words("b.c a.d c.e b.c.e")
"""Those that end a sentence, behind a number, in front of a capital letter."""

DEGREES = _words("ph.d ll.m ll.b ll.d ed.d m.b.a b.sc m.sc")
"""The same behind a word in small letters (`a Ph.D.`). Those that may be initials are none (`by J.D. Salinger`)."""

TITLES = _words("mr mrs ms dr prof st sir lord lady")

OPENING_WORDS = _words(
    """
    a an the this that these those i you he she it we they my your his her its our their there here in on at for to
    from with by as if when while where what who whom whose why how which and but or so then thus after before since
    because although however though did do does is are was were can could will would shall should may might must have
    has had no not yes all some many most each every both either neither once now please let also another other only
    today yesterday tomorrow later soon still just even never
    der die das den dem ein eine er sie es wir ich ihr ist sind war und aber oder wenn als dann doch auch nur
    le la les un une il elle ils elles nous vous je tu ce cette ces et mais ou si quand puis
    el los las una ella ellos ellas yo pero cuando
    lo gli uno lui lei noi voi loro ma quando poi
    он она они мы вы я это но и в на с по к у не что как если когда
    він вона вони ми ви це але й та що як якщо коли
    """
)
"""Words that a sentence begins with, and hardly a name."""

MONTHS = _words(
    """
    januar jänner februar feber märz april mai juni juli august september oktober november dezember
    januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra
    january february march may june july october december
    jan feb apr aug sept okt nov dez
    marts juni juli januari februari maart mei juni juli augustus
    """
)
