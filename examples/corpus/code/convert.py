"""Units and datums. 單位與基準的換算。"""


def feet(millimetres):
    """Height in feet and inches, as pilots of a certain age like it."""
    inches = round(millimetres / 25.4)
    sign = "-" if inches < 0 else ""
    return f"{sign}{abs(inches) // 12}'{abs(inches) % 12}\""


def above_chart(millimetres, zero):
    """Height above chart datum. `zero` is the station's zero above chart datum, or None when nobody knows it."""
    if zero is None:
        raise LookupError("this station is not tied to chart datum 此站尚未與海圖基準連接")
    return millimetres + zero


def ten_minutes(readings):
    """Means over ten minutes; the time is the beginning. None where fewer than six readings are there."""
    buckets = {}
    for seconds, height in readings:
        buckets.setdefault(seconds // 600 * 600, []).append(height)
    return {
        start: (round(sum(heights) / len(heights)) if len(heights) >= 6 else None)
        for start, heights in sorted(buckets.items())
    }
