"""What `kobert-kit bench` measured, as tables."""

from __future__ import annotations

from kobert_kit.pretrain.bench import Measurement
from kobert_kit.report.tables import table


def describe(found: Measurement) -> str:
    """Speed and memory as one table, the parts of a step as another."""
    preset = found.settings.preset
    how = "bf16" if found.settings.mixed_precision == "bf16" else "fp32"
    how += ", compiled" if found.settings.compile else ""
    setting = f"{preset.layers} x {preset.hidden}, {preset.batch_size} x {preset.length} tokens"
    holder = "process" if found.device == "CPU" else "GPU's tensors"
    square = f"{found.square_size:,}"
    rows = [
        ["device", f"{found.device}, {how}"],
        ["threads", f"{found.threads}"],
        ["parameters", f"{found.parameters / 1e6:.1f} M"],
        ["steps measured", f"{found.steps:,}"],
        ["tokens per second", f"{found.tokens_per_second:,.0f}"],
        ["training", _rate(found.achieved)],
        ["matrix products of the model's shapes", _rate(found.products)],
        [f"matrix product of {square} x {square}", _rate(found.square)],
        ["the same by PyTorch's own product", _rate(found.pytorch)],
        ["training's share of the fastest", f"{100 * found.peak_share:.1f} %"],
        [f"peak memory of the {holder}", f"{found.peak_memory / 1e6:,.0f} MB"],
    ]
    step = sum(found.parts.values())
    parts = [
        [name, f"{1e3 * seconds:,.2f}", f"{100 * seconds / step:.1f} %"]
        for name, seconds in {**found.parts, "step": step}.items()
    ]
    return f"{table(['', setting], rows)}\n\n{table(['part', 'ms', 'share'], parts)}"


def _rate(flops_per_second: float) -> str:
    return f"{flops_per_second / 1e9:,.1f} GFLOP/s"
