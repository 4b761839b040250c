"""Loader of Flickr8k from a local folder: pictures, captions and splits.

The pictures belong to their photographers and may not be redistributed, so nothing is downloaded.
The folder has the layout of the unpacked archives::

    FOLDER/Flicker8k_Dataset/1000268201_693b08cb0e.jpg ...     (or Flickr8k_Dataset, or Images)
    FOLDER/Flickr8k.token.txt               lines "NAME.jpg#0<tab>A child in a pink dress ..."
    FOLDER/Flickr_8k.trainImages.txt        one picture name per line
    FOLDER/Flickr_8k.devImages.txt
    FOLDER/Flickr_8k.testImages.txt

The text files may also lie in FOLDER/Flickr8k_text.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coursekit.datasets.corpus import Corpus
from coursekit.datasets.download import data_folder
from coursekit.datasets.errors import DatasetError

PICTURE_FOLDERS = ("Flicker8k_Dataset", "Flickr8k_Dataset", "Images")
CAPTIONS = "Flickr8k.token.txt"
LISTS = {
    "train": "Flickr_8k.trainImages.txt",
    "validation": "Flickr_8k.devImages.txt",
    "test": "Flickr_8k.testImages.txt",
}
CITATION = (
    "Hodosh, Young and Hockenmaier (2013), Framing image description as a ranking task: data, "
    "models and evaluation metrics, Journal of Artificial Intelligence Research 47."
)
LICENCE = "the pictures belong to their photographers: for research, not to be handed on"


@dataclass(frozen=True)
class CaptionedPicture:
    """A picture file and its human-written captions.

    Attributes:
        path: path of the picture file.
        captions: the captions, each a tuple of lower-case words without punctuation.
    """

    path: Path
    captions: tuple[tuple[str, ...], ...]

    def pixels(self, size: int) -> np.ndarray:
        """Return the picture's centre square, scaled to `size` x `size` pixels.

        Args:
            size: height and width of the result, in pixels.

        Returns:
            uint8 (size, size, 3), red, green, blue.

        Raises:
            DatasetError: the file cannot be read as a picture.
        """
        from PIL import Image, ImageOps

        try:
            with Image.open(self.path) as opened:
                return np.asarray(ImageOps.fit(opened.convert("RGB"), (size, size)))
        except (OSError, ValueError, SyntaxError) as reason:  # what Pillow raises on damaged files
            raise DatasetError(
                f"{self.path} cannot be read as a picture: unpack the archive again, or remove "
                "its name from the lists."
            ) from reason


class CaptionedCorpus(Corpus[CaptionedPicture]):
    """Pictures with captions: items are `CaptionedPicture`."""


def load_flickr8k(folder: str | Path | None = None) -> CaptionedCorpus:
    """Read Flickr8k from a folder; no picture is opened yet.

    Pictures that are in no list are ignored, and so are their captions.

    Args:
        folder: folder of the data set; `flickr8k` in COURSEKIT_DATA by default.

    Returns:
        the splits "train", "validation" and "test", in the order of their lists; the checksums are
        those of the text files.

    Raises:
        DatasetError: a folder, a file or a picture is missing, or a line is malformed; the message
            says what to do.
    """
    root = _root(folder)
    text = root / "Flickr8k_text" if (root / "Flickr8k_text").is_dir() else root
    pictures = next((root / name for name in PICTURE_FOLDERS if (root / name).is_dir()), None)
    if pictures is None:
        raise DatasetError(
            f"{root} has no folder of pictures: unpack them there into {PICTURE_FOLDERS[0]}."
        )
    checksums: dict[str, str] = {}
    captions = _captions(text / CAPTIONS, checksums)
    splits: dict[str, list[CaptionedPicture]] = {}
    used: dict[str, str] = {}
    for split, file_name in LISTS.items():
        names = [line.strip() for _, line in _lines(text / file_name, checksums)]
        for name in names:
            if used.setdefault(name, split) != split:
                raise DatasetError(
                    f"The picture {name} is in the lists of {used[name]} and {split}: remove it "
                    "from one of them, because a test set must not contain training pictures."
                )
            if name not in captions:
                raise DatasetError(
                    f"{text / CAPTIONS} has no caption of {name}, which {file_name} lists: use the "
                    "files of one archive together."
                )
        missing = [name for name in names if not (pictures / name).is_file()]
        if missing:
            raise DatasetError(
                f"{len(missing)} of the {len(names)} pictures listed in {file_name} are missing "
                f"from {pictures}, such as {missing[0]}: unpack the whole archive of pictures."
            )
        splits[split] = [CaptionedPicture(pictures / n, tuple(captions[n])) for n in names]
    return CaptionedCorpus("flickr8k", LICENCE, CITATION, checksums, splits)


def _root(folder: str | Path | None) -> Path:
    if folder is None:
        data = data_folder()
        if data is None:
            raise DatasetError(
                "The course does not download Flickr8k: pass the path of your copy, or put it in "
                "the folder flickr8k in COURSEKIT_DATA."
            )
        folder = data / "flickr8k"
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise DatasetError(
            f"There is no folder {root}: pass the folder that holds Flickr8k's pictures and "
            f"{CAPTIONS}."
        )
    return root


def _lines(path: Path, checksums: dict[str, str]) -> list[tuple[int, str]]:
    """Return the non-empty lines of a text file with their line numbers, from 1."""
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except FileNotFoundError as reason:
        raise DatasetError(
            f"The file {path} is missing: unpack Flickr8k's text files next to its pictures."
        ) from reason
    except (OSError, UnicodeDecodeError) as reason:
        raise DatasetError(
            f"The file {path} cannot be read as UTF-8 text: unpack Flickr8k's texts again."
        ) from reason
    checksums[path.name] = hashlib.sha256(raw).hexdigest()
    return [(i, line) for i, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _captions(path: Path, checksums: dict[str, str]) -> dict[str, list[tuple[str, ...]]]:
    """Return the captions of each picture, by file name."""
    captions: dict[str, list[tuple[str, ...]]] = {}
    for number, line in _lines(path, checksums):
        match = re.fullmatch(r"([^\t]+)#\d+\t(.*)", line.rstrip("\r"))
        words = tuple(re.findall(r"[\w'-]*\w[\w'-]*", match[2].lower())) if match else ()
        if match is None or not words:
            raise DatasetError(
                f'Line {number} of {path} is not of the form "picture.jpg#0<tab>caption": correct '
                "it, or unpack Flickr8k's texts again."
            )
        captions.setdefault(match[1], []).append(words)
    return captions
