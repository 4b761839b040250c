"""The recorded runs, and the commands that repeat them."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Container
from types import ModuleType

# The program and options of each run. If a program writes one file, the run has the name of that
# file in book/results. The order matters: BERT is pre-trained before it is fine-tuned.
RUNS = {
    "seq2seq-lstm.multi30k-de-en": "seq2seq --precision float32 --seeds 1 2 3",
    "seq2seq-gru.multi30k-de-en": "seq2seq --model gru --precision float32 --seeds 1 2 3",
    "rnnsearch-all.multi30k-de-en": "bahdanau --precision float32 --seeds 1 2 3",
    "rnnencdec-all.multi30k-de-en": "bahdanau --attention fixed --precision float32 --seeds 1 2 3",
    "rnnsearch-10.multi30k-de-en": "bahdanau --max-words 10 --precision float32 --seeds 1 2 3",
    "rnnencdec-10.multi30k-de-en": "bahdanau --attention fixed --max-words 10 --precision"
    " float32 --seeds 1 2 3",
    "luong-general.multi30k-de-en": "luong --precision float32 --seeds 1 2 3",
    "luong-local-p.multi30k-de-en": "luong --attention local-p --epochs 10 --precision"
    " float32 --seeds 1 2 3",
    "luong-general.tatoeba-eng-kor": "luong --data tatoeba-eng-kor --epochs 25 --batch-size"
    " 32 --dropout 0.4 --subwords 2000 --precision float32 --seeds 1 2 3",
    "ibm-1.hansards-en-fr": "alignment --model ibm-1 --epochs 8",
    "rnnsearch.hansards-en-fr": "alignment",
    "luong-general.hansards-en-fr": "alignment --model luong",
    "transformer.hansards-en-fr": "alignment --model transformer",
    "word_vectors.english": "word_vectors",
    "encoder_decoder.english-french": "encoder_decoder",
    "source_reversal.english-french-korean": "source_reversal",
    "sentence_vectors.english-french": "sentence_vectors",
    "bottleneck.english-korean": "bottleneck",
    "attention_interventions.english-korean": "attention_interventions",
    "luong_scores.english-korean": "luong_scores",
    "pooling.reviews": "pooling",
    "hierarchical_attention.reviews": "hierarchical_attention",
    "faithfulness.reviews": "faithfulness",
    "head_alignment.english-korean": "head_alignment",
    "pronoun_resolution.english-french": "pronoun_resolution",
    "training_snapshots.english-french-korean": "training_snapshots",
    "five_translators.english-french": "five_translators",
    "word_content_probe.english-french": "word_content_probe",
    "norm_placement.sequences": "norm_placement",
    "language_models": "language_models",
    "bilstm-attention.imdb": "classifiers --epochs 6 --learning-rate 2e-3 --precision"
    " float32 --seeds 1 2 3",
    "structured.imdb": "classifiers --model structured --epochs 5 --learning-rate 2e-3"
    " --penalty 0.003 --precision float32 --seeds 1 2 3",
    "structured-strong.imdb": "classifiers --model structured --name structured-strong"
    " --epochs 5 --learning-rate 2e-3 --precision float32 --seeds 1 2 3",
    "structured-no-penalty.imdb": "classifiers --model structured-no-penalty --epochs 5"
    " --learning-rate 2e-3 --precision float32 --seeds 1 2 3",
    "bilstm-max.imdb": "classifiers --model bilstm-max --epochs 5 --learning-rate 2e-3"
    " --precision float32 --seeds 1 2 3",
    "han.imdb": "classifiers --model han --epochs 6 --learning-rate 2e-3 --precision"
    " float32 --seeds 1 2 3",
    "hn-ave.imdb": "classifiers --model hn-ave --epochs 6 --learning-rate 2e-3 --precision"
    " float32 --seeds 1 2 3",
    "average.imdb": "classifiers --model average --learning-rate 2e-3 --precision float32"
    " --seeds 1 2 3",
    "cnn.imdb": "classifiers --model cnn --epochs 6 --learning-rate 2e-3 --precision"
    " float32 --seeds 1 2 3",
    "bilstm-last.imdb": "classifiers --model bilstm-last --epochs 4 --learning-rate 2e-3"
    " --precision float32 --seeds 1 2 3",
    "bilstm-attention.nsmc": "classifiers --data nsmc --width 128 --batch-size 128 --epochs"
    " 5 --vocabulary 16000 --learning-rate 2e-3 --dropout 0.3 --word-dropout 0.05"
    " --precision float32 --seeds 1 2 3",
    "han.bbc": "classifiers --data bbc --model han --epochs 12 --batch-size 16"
    " --learning-rate 2e-3 --precision float32 --seeds 1 2 3",
    "hn-ave.bbc": "classifiers --data bbc --model hn-ave --epochs 12 --batch-size 16"
    " --learning-rate 2e-3 --precision float32 --seeds 1 2 3",
    "hn-max.bbc": "classifiers --data bbc --model hn-max --epochs 12 --batch-size 16"
    " --learning-rate 2e-3 --precision float32 --seeds 1 2 3",
    "logistic-regression.imdb": "bag_of_words",
    "naive-bayes.imdb": "bag_of_words --model naive-bayes",
    "logistic-regression.nsmc": "bag_of_words --data nsmc",
    "naive-bayes.nsmc": "bag_of_words --model naive-bayes --data nsmc",
    "logistic-regression.bbc": "bag_of_words --data bbc",
    "naive-bayes.bbc": "bag_of_words --model naive-bayes --data bbc",
    "recipe-keras.imdb": "keras_review_classifier --keras",
    "recipe.imdb": "keras_review_classifier",
    "recipe-masked.imdb": "keras_review_classifier --masked",
    "captioning.scenes": "captioning",
    "transformer.multi30k-de-en": "transformer --beam 5 --average 8 --precision float32"
    " --seeds 1 2 3",
    "cloze_comparison.stories": "cloze_comparison",
    "bert.wikitext-2": "bert",
    "bert-finetuned-50.sst-2": "bert --data sst-2 --labels 50 --seeds 1 2 3 4 5",
    "bert-finetuned-500.sst-2": "bert --data sst-2 --labels 500 --seeds 1 2 3 4 5",
    "bert-finetuned-all.sst-2": "bert --data sst-2",
    "bert-finetuned-all.mrpc": "bert --data mrpc --seeds 1 2 3",
    "minilm-50.sst-2": "minilm_finetuning --labels 50 --seeds 1 2 3 4 5",
    "minilm-500.sst-2": "minilm_finetuning --labels 500 --seeds 1 2 3 4 5",
    "minilm-all.sst-2": "minilm_finetuning --epochs 4",
    "minilm-all.mrpc": "minilm_finetuning --data mrpc --length 128 --epochs 5",
    "minilm-all.imdb": "minilm_finetuning --data imdb --length 256 --epochs 1 --turn 282 --ways"
    " fine-tuned frozen bag",
    "minilm-lora-500.sst-2": "minilm_finetuning --labels 500 --seeds 1 2 3 4 5 --rank 8"
    " --learning-rate 2e-3",
    "minilm-heads.sst-2": "minilm_heads",
    "minilm-search.glossary": "glossary_search",
    "bench-projection.multi30k-shapes": "bench_precomputed_keys",
    "bench-decoders.multi30k-shapes": "bench_decoders",
    "bench-bucketing.reviews": "bench_bucketing --rounds 3",
    "bench-bucketing.imdb": "bench_bucketing --data imdb --rounds 3",
    "bench-attention.random": "bench_against_torch",
    "bench-length.random": "bench_length",
}
PROGRAMS = sorted({command.split()[0] for command in RUNS.values()})
ENTRY = "python -m experiments"


def load(program: str) -> ModuleType:
    """Import a program: a module with `parser()` and `main(options)`."""
    return importlib.import_module(f".{program}", __package__)


def command(program: str, options: argparse.Namespace, leave: Container[str] = ()) -> str:
    """Return the command that repeats a run, with all options that differ from the defaults.

    Args:
        program: one of PROGRAMS.
        options: parsed options of the run.
        leave: names of options that do not affect the record.
    """
    parser = load(program).parser()
    words = [ENTRY, program]
    for name, value in vars(options).items():
        if name not in leave and value != parser.get_default(name):
            words.append(f"--{name.replace('_', '-')}")
            if value is not True:
                words += map(str, value if isinstance(value, list) else [value])
    return " ".join(words)
