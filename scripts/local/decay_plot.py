"""Draws docs/decay.svg, how memories fade by fact kind: python -m local.decay_plot > docs/decay.svg."""

from memwarden_policy.retrieval.decay import CURVES, DEFAULT, Curve, remaining

DAYS, STEP = 730, 10
WIDTH, HEIGHT, LEFT, TOP = 640, 300, 50, 20
COLOURS = ("#1b6ca8", "#2a9d8f", "#6a4c93", "#e9a23b", "#8d99ae", "#c1121f", "#444444")


def drawing() -> str:
    """Return the plot as SVG."""
    curves = [*CURVES.items(), ("any other", DEFAULT)]
    box = f'viewBox="0 0 {WIDTH + 140} {HEIGHT + 60}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" font-size="12">',
        "<title>What remains of a memory, by days since its last confirmation or recall</title>",
        f'<rect width="{WIDTH + 140}" height="{HEIGHT + 60}" fill="white"/>',
        *(_level(tenths / 10) for tenths in range(0, 11, 2)),
        *(_day(days) for days in range(0, DAYS + 1, 146)),
        *(_curve(at, name, curve) for at, (name, curve) in enumerate(curves)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(days: float) -> float:
    return round(LEFT + days / DAYS * (WIDTH - LEFT), 1)


def _y(share: float) -> float:
    return round(TOP + (1 - share) * HEIGHT, 1)


def _level(share: float) -> str:
    line = f'<line x1="{LEFT}" x2="{WIDTH}" y1="{_y(share)}" y2="{_y(share)}" stroke="#ddd"/>'
    return f'{line}<text x="{LEFT - 8}" y="{_y(share) + 4}" text-anchor="end">{share:.1f}</text>'


def _day(days: int) -> str:
    return f'<text x="{_x(days)}" y="{HEIGHT + TOP + 20}" text-anchor="middle">{days} d</text>'


def _curve(at: int, name: str, curve: Curve) -> str:
    points = " ".join(f"{_x(days)},{_y(remaining(curve, days))}" for days in range(0, DAYS + 1, STEP))
    colour, height = COLOURS[at], TOP + 20 * at + 10
    legend = f'<text x="{WIDTH + 15}" y="{height}" fill="{colour}">{name}</text>'
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>{legend}'


if __name__ == "__main__":
    print(drawing(), end="")
