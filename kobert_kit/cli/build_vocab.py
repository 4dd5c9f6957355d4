"""``kobert-kit build-vocab``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("build-vocab")
@click.argument("corpus", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--output", required=True, type=click.Path(path_type=Path), help="Tokenizer folder to write."
)
@click.option(
    "--vocab-size",
    type=click.IntRange(min=1),
    default=32_000,
    show_default=True,
    help="Entries, special tokens included. Small models on little text do better with 8,000 to "
    "16,000.",
)
@click.option(
    "--held-out",
    "held_out_share",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.01,
    show_default=True,
    help="Share of the documents that the vocabulary does not see, to measure it on. `pretrain` "
    "holds out the same ones.",
)
@click.option(
    "--alphabet-coverage",
    type=click.FloatRange(0, 1),
    default=0.9996,
    show_default=True,
    help="Share of the text's characters that get entries of their own, as far as those fit into a "
    "third of the vocabulary; the rest become [UNK], one character at a time.",
)
@click.option(
    "--min-frequency",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Occurrences below which a string is not worth an entry.",
)
@click.option(
    "--shared-syllable",
    type=click.Choice(["merge", "cut"]),
    default="merge",
    show_default=True,
    help="Morphemes that share a syllable: kept whole (됩니다), or cut where one ends (됩|니다).",
)
@click.option(
    "--user-dict",
    type=click.Path(path_type=Path),
    help="Words of your own in Kiwi's dictionary format, a word a line: form, tag, and perhaps a "
    "score, separated by tabs. Kept in the tokenizer folder.",
)
@click.option(
    "--mode",
    type=click.Choice(["vocab", "always"]),
    default="vocab",
    show_default=True,
    help="vocab: Kiwi shapes the vocabulary only, the tokenizer loads and runs anywhere. always: "
    "Kiwi also cuts the text that is encoded, so no token crosses a morpheme; needs kobert-kit.",
)
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    help="A special token beside BERT's own, such as [USER]. May be given several times.",
)
@click.option(
    "--unused",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Slots [unused0], [unused1], ... that no text yields, for tokens of your own later.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Analysing processes, 500 MB each; default: one a core. The result does not change.",
)
def build_vocab(
    corpus: tuple[Path, ...],
    output: Path,
    vocab_size: int,
    held_out_share: float,
    alphabet_coverage: float,
    min_frequency: int,
    shared_syllable: str,
    user_dict: Path | None,
    mode: str,
    special_tokens: tuple[str, ...],
    unused: int,
    workers: int | None,
) -> None:
    """Build a morpheme-aware WordPiece vocabulary from CORPUS.

    CORPUS is any number of files or folders: .txt with a blank line between documents, .jsonl
    with a "text" in each line, .parquet with a column "text", each also as .gz, .xz, .bz2 or .zst.

    Kiwi splits the text into surface morphemes; a morpheme inside an eojeol becomes a piece with
    ##, and no entry crosses a morpheme. So 먹었습니다 is learnt as 먹 ##었 ##습니다. Using a
    tokenizer of mode vocab does not need Kiwi: it loads with `AutoTokenizer.from_pretrained`.

    The same corpus and options give the same vocabulary, byte for byte.

    \b
    Examples:
      kobert-kit build-vocab corpus/ --output vocab
      kobert-kit build-vocab wiki.jsonl.xz law.txt --vocab-size 16000 --output vocab
    """
    from kobert_kit.morphology.kiwi import KiwiSettings
    from kobert_kit.morphology.user_dictionary import read_user_dictionary
    from kobert_kit.tokenizer.build import BuildSettings
    from kobert_kit.tokenizer.build import build_vocab as run
    from kobert_kit.tokenizer.counting import describe_forgotten

    settings = BuildSettings(
        vocab_size=vocab_size,
        held_out_share=held_out_share,
        alphabet_coverage=alphabet_coverage,
        min_frequency=min_frequency,
        kiwi=KiwiSettings(
            "cut" if shared_syllable == "cut" else "merge",
            read_user_dictionary(user_dict) if user_dict else "",
        ),
        mode=mode,
        special_tokens=_distinct(special_tokens),
        unused=unused,
    )
    report = run(corpus, output, settings, workers=workers, say=click.echo)
    if report.forgotten:
        click.echo(describe_forgotten(report.forgotten))
    click.echo(
        f"{report.distinct_eojeols:,} distinct eojeols, {report.distinct_pieces:,} distinct "
        f"morphemes, {report.alphabet:,} characters"
    )
    if report.vocab_size < vocab_size:
        click.echo(f"the text yields only {report.vocab_size:,} of the {vocab_size:,} entries")
    if report.held_out:
        click.echo(
            f"on {report.held_out.eojeols:,} held-out eojeols: "
            f"{report.held_out.tokens_per_eojeol:.3f} tokens per eojeol, "
            f"{100 * report.held_out.unknown_share:.3f} % [UNK]"
        )
    click.echo(f"tokenizer: {output} ({report.vocab_size:,} entries, {report.seconds:,.0f} s)")


def _distinct(special_tokens: tuple[str, ...]) -> tuple[str, ...]:
    from kobert_kit.tokenizer.folder import is_reserved

    for token in special_tokens:
        if not token.strip() or token != token.strip():
            raise click.UsageError(f"--special-token '{token}': empty, or with space around it")
        if len(token) == 1:
            raise click.UsageError(f"--special-token {token}: one character, which text needs")
        if is_reserved(token):
            raise click.UsageError(f"--special-token {token}: is one of BERT's own, or --unused")
    return tuple(dict.fromkeys(special_tokens))
