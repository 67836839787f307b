"""Numbers of a report as a page is to show them, written a second time."""
import re


def three_digits(value):
    size = abs(value)
    if size >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def scaled(value, units):
    for unit, scale in units:
        if abs(value) >= scale * 0.9995:
            return value / scale, unit
    return value / units[-1][1], units[-1][0]


def duration(seconds):
    if seconds == 0:
        return "0 s"
    value, unit = scaled(seconds, [("s", 1), ("ms", 1e-3), ("µs", 1e-6),
                                   ("ns", 1e-9), ("ps", 1e-12)])
    return f"{round(value)} ps" if unit == "ps" else f"{three_digits(value)} {unit}"


def size(count):
    value, unit = scaled(count, [("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20),
                                 ("KiB", 2**10), ("B", 1)])
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def count(value):
    if 99.95 <= value < 9999.5:
        return f"{round(value):,}"
    number, unit = scaled(value, [(" T", 1e12), (" B", 1e9), (" M", 1e6),
                                  (" k", 1e3), ("", 1)])
    return three_digits(number) + unit


def at(report, path):
    value = report
    for word in path.split("."):
        value = value[int(word) if isinstance(value, list) else word]
    return value


def shown_as(report, path):
    if path == "exposed":
        share = sum(row["exposed_fraction"] for row in report["communication"])
        return f"{100 * share:.1f} %"
    value, last = at(report, path), path.split(".")[-1]
    if last.endswith("_bytes"):
        return size(value)
    if last.startswith("tokens_per_s"):
        return count(value)
    if last.endswith("_s"):
        return duration(value)
    whole = path in ("mfu.exact", "bubble.fraction")
    return f"{100 * value:.1f}" + (" %" if whole else "")


def waterfall_of(text):
    """Causes and tenths of a percent as the text report has them."""
    rows = []
    for line in text.split("where 100 % goes\n")[1].split("\n"):
        found = re.match(r"  (\S.*?) +([-−]?\d+\.\d)(?: |$)", line)
        if not found:
            break
        rows.append((found.group(1), found.group(2).replace("-", "−")))
    return rows
