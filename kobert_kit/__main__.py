"""``python -m kobert_kit``, for launchers such as torchrun."""

from kobert_kit.cli import main

if __name__ == "__main__":
    main()
