"""What in a text says that here a question or an answer starts: markers (`Q:` `A:`, 問 答) and `<details>`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from chunkers.structure.faq_units import ASKING, ASKS, TAG, Event, Given
from chunkers.structure.markdown import Heading

_LEAD = r"(?P<lead>[ \t\u3000]{0,3}(?:>[ \t]?)?(?:[-*+][ \t]+)?(?:#{1,6}[ \t]+)?(?:\*\*|__)?[【\[［(（]?)"
_NUMBER = r"(?:[\d０-９]{1,4}|[一二三四五六七八九十]{1,3})"
_BOLD = r"(?:\*\*|__)?"
_CLOSE = rf"{_BOLD}[】\]］)）]?{_BOLD}"


def _marker(words: str, short: str, small: str, bare: str = "") -> re.Pattern[str]:
    """A marker: a word or letter, a number or none, and what sets it off: a stop or space only behind a number."""
    return re.compile(
        rf"(?m)^{_LEAD}(?:"
        rf"(?:(?:{words})[ \t]*{_NUMBER}?|[{short}][ \t]?{_NUMBER}?|{small}){_CLOSE}[ \t]*[:：]"
        rf"|(?:(?:{words})[ \t]*|[{short}]){_NUMBER}{_CLOSE}(?:[.．、)）](?!\d)[ \t\u3000]*|[ \t\u3000]+(?=\S))"
        rf"|(?<=[【\[［])(?:{words}|[{short}]){_NUMBER}?[】\]］]{bare}"
        rf"){_BOLD}[ \t\u3000]*"
    )


_QUESTIONS = (
    "Question|QUESTION|Frage|FRAGE|Pregunta|PREGUNTA|Pergunta|Domanda|Vraag|Pytanie|Soru|Hỏi|Tanya|Вопрос|ВОПРОС|Питання"
    "|Ερώτηση|שאלה|سؤال|السؤال|प्रश्न|ถาม|คำถาม|问题|問題|質問|질문"
)
_ANSWERS = (
    "Answer|ANSWER|Antwort|ANTWORT|Respuesta|RESPUESTA|Resposta|Réponse|Risposta|Antwoord|Odpowiedź|Cevap|Đáp|Jawab|Ответ"
    "|ОТВЕТ|Відповідь|Απάντηση|תשובה|جواب|الجواب|الإجابة|उत्तर|ตอบ|คำตอบ|答案|回答|答え|답변"
)
_IS_QUESTION = _marker(_QUESTIONS, "QＱ問问문", "q", rf"|[QＱ][.．]{_BOLD}[ \t\u3000]+(?=[^\n]*[?？])")
_IS_ANSWER = _marker(_ANSWERS, "AＡ答답", "a")
_INITIALS = {"P": "R", "D": "R", "F": "A", "V": "A", "S": "C", "В": "О", "П": "О", "س": "ج"}
"""First letters of what a question and an answer are called, in pairs: marks where they alternate."""
_OTHER_ANSWER = re.compile(rf"{_LEAD}R{_CLOSE}[ \t]*[:：]{_BOLD}[ \t\u3000]+")
"""A mark that answers only what is marked `Q:`."""
_BEGINNINGS = "|".join(word for word in f"{_QUESTIONS}|{_ANSWERS}".split("|") if word[0] not in "QAaR问問答답")
ANY_MARK = re.compile(rf"(?m)^[ \t\u3000>*+_#\-【\[［(（]{{0,16}}(?:[QＱqAＡaR问問문答답PDFVSВПОСCسج]|{_BEGINNINGS})")

_DETAILS = re.compile(r"(?i)<(?P<close>/)?(?P<name>details|summary)\b[^<>]{0,1000}>")


def find_details(lines: str) -> list[Given]:
    """`<details>` that start a line, with their `<summary>`; the outermost only."""
    found: list[Given] = []
    depth = start = summary = answer = 0
    for match in _DETAILS.finditer(lines):
        opens = match["close"] is None
        if match["name"].lower() == "details":
            depth = max(0, depth + (1 if opens else -1))
            if opens and depth == 1:
                start = lines.rfind("\n", 0, match.start()) + 1
                summary = answer = -1 if lines[start : match.start()].strip() else 0
            elif not opens and not depth and answer > 0:
                newline = lines.find("\n", match.end())
                end = len(lines) if newline < 0 or lines[match.end() : newline].strip() else newline + 1
                end = end if newline < 0 or not lines[match.end() : newline].strip() else match.end()
                question = " ".join(TAG.sub("", lines[summary:answer]).split())
                if lines[end - 1 : end] == "\n" or end == len(lines):
                    found.append(Given(start, answer, end, question, "details"))
                answer = 0
        elif depth == 1 and summary >= 0 and opens and not summary:
            summary = match.end()
        elif depth == 1 and summary > 0 and not opens and not answer:
            answer = match.end()
    return found


_LEAST_STANDING = 3
_BOLD_LINE = re.compile(
    r"(?m)^[ ]{0,3}(?:\d{1,3}[.)、][ \t]*)?(?:\*\*|__)(?=[^\n*_]{2,200}(?:\*\*|__)[ \t]*$)(?:\d{1,3}[.)、][ \t]*)?"
)
_NUMBERED_LINE = re.compile(r"(?m)^(?P<number>\d{1,3})(?:[.)][ \t]+|、)(?=\S)")


def find_initials(lines: str, held: Sequence[int]) -> list[Event]:
    """Questions and answers that are marked by first letters of other languages, if there are 2 pairs of one kind."""
    for question, answer in _INITIALS.items():
        if f"{question}:" not in lines or f"{answer}:" not in lines:
            continue
        mark = re.compile(rf"(?m)^{_LEAD}(?P<letter>{question}|{answer}){_CLOSE}[ \t]*:{_BOLD}[ \t\u3000]+")
        found = [
            Event(match.start(), match.end(), "question" if match["letter"] == question else "answer")
            for match in mark.finditer(lines)
            if not (held and bisect_right(held, match.start()) & 1)
        ]
        kinds = [event.kind for event in found]
        if len(found) >= 4 and kinds == ["question", "answer"] * (len(found) // 2) and _ask(lines, found[::2]):
            return found
    return []


def find_standing(lines: str, held: Sequence[int]) -> list[Event]:
    """Lines that ask and are all bold, or numbered from 1 on: if at least 3 do, most of their kind."""
    for mark in (_BOLD_LINE, _NUMBERED_LINE):
        found, others, due = [], 0, 1
        for match in mark.finditer(lines):
            if held and bisect_right(held, match.start()) & 1:
                continue
            event = Event(match.start(), match.end(), "question")
            number = int(match["number"]) if mark is _NUMBERED_LINE else due
            if not ASKS.search(_line(lines, event)):
                others += number == due  # an answer may have a list of its own
            elif due <= number <= due + 1:
                found.append(event)
                due = number + 1
        if len(found) >= max(_LEAST_STANDING, ASKING * (len(found) + others)):
            return found
    return []


def _ask(lines: str, questions: Sequence[Event]) -> bool:
    """Whether most of these lines ask."""
    return sum(ASKS.search(_line(lines, event)) is not None for event in questions) >= ASKING * len(questions)


def _line(lines: str, event: Event) -> str:
    end = lines.find("\n", event.end)
    return lines[event.start : end if end >= 0 else len(lines)]


def find_markers(lines: str, headings: dict[int, Heading], held: Sequence[int]) -> list[Event]:
    """The lines that are marked as questions and answers."""
    found = find_initials(lines, held)
    if found:
        return found
    last = 0
    for near in ANY_MARK.finditer(lines):
        start = near.start()
        if held and bisect_right(held, start) & 1:
            continue
        heading = headings.get(start)
        if match := _IS_QUESTION.match(lines, start):
            level = heading.level if heading else 0
            found.append(Event(start, match.end(), "question", level))
        elif match := _IS_ANSWER.match(lines, start):
            if not (found and found[-1].kind == "question" and found[-1].start >= last):
                question = _line_above(lines, start, last)
                if question >= 0:
                    level = headings[question].level if question in headings else 0
                    found.append(Event(question, question, "question", level))
            found.append(Event(start, match.end(), "answer"))
            last = start
        elif (
            found
            and found[-1].kind == "question"
            and "Q" in lines[found[-1].start : found[-1].end]
            and (match := _OTHER_ANSWER.match(lines, start))
        ):
            found.append(Event(start, match.end(), "answer"))
            last = start
    return found


def _line_above(lines: str, start: int, floor: int) -> int:
    """The start of the line above an answer without a marked question, if that line asks; -1 if not."""
    end = start
    while end > floor and lines[end - 1].isspace():
        end -= 1
    newline = lines.rfind("\n", floor, end)
    begin = newline + 1 if newline >= 0 or not floor else end
    return begin if ASKS.search(lines[begin:end]) else -1
