# %% [markdown]
# # Sentences I: one vector for a sentence
#
# A classifier wants one vector for a sentence, and a recurrent network gives a state for each of
# its words. What becomes of the many? In this notebook you write the three ways that need no
# parameters, the last state, the mean and the maximum, and then a classifier that *chooses*: a
# bidirectional LSTM whose final state asks all states what matters. At the end all four read
# reviews.
#
# {{ exercises }}
#
# **Before you begin.** You need packing of padded sentences, as in `seq2seq/encoder_decoder.ipynb`. The ideas are explained in [Chapter 6](../../book/06_sentences.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Shapes.** $B$ sentences in the batch, $N$ positions, $d$ the size of a state. Sentences end in
# padding. How much of a row is real is said either by `lengths` $(B,)$ or by a boolean mask
# $(B, N)$ in which `True` means *a real word*. What stands on padding is arbitrary: it is finite,
# but not 0.
#
# Lin et al. is *A Structured Self-attentive Sentence Embedding* (2017); its introduction lists the
# three ways as what was usual before.

# %% setup
import torch
from torch import Tensor, nn

# %% notebook setup-check
# from autograder import check
# from coursekit.notebook.session import start
#
# start()

# %% demo overview
# from coursekit.plots import diagrams
#
# figure = diagrams.draw("pooling")

# %% earlier
from coursekit.data.batching import length_mask
from solutions.bahdanau.scores import additive_score, context_vector, masked_softmax

# %% [markdown]
# ## `last_state`
#
# A network that has read the sentence from left to right knows, after the last word, something of
# all the words. So take that state:
#
# $$s = h_L \qquad h: (B, N, d),\quad L: (B,),\quad s: (B, d)$$
#
# Each sentence has its own last word, and positions count from 0.


# %% exercise
def last_state(states: Tensor, lengths: Tensor) -> Tensor:
    """Take the state after each sentence's own last word.

    s = h_L

    Args:
        states: h_1 ... h_N, (B, N, d); what comes after a sentence's end is arbitrary.
        lengths: L, number of real words of each sentence, (B,), all at least 1.

    Returns:
        sentence vectors (B, d).

    Source: Lin et al. (2017), section 1.
    """
    ### BEGIN SOLUTION
    rows = torch.arange(len(states), device=states.device)  # (B,)
    return states[rows, lengths - 1]  # (B, d)
    ### END SOLUTION


# %% [markdown]
# ## `masked_mean`
#
# The last state has had a long way to go from the first word. The mean asks all words, and asks
# them all alike:
#
# $$s = \frac{\sum_{j=1}^{N} m_j h_j}{\sum_{j=1}^{N} m_j}
# \qquad h: (B, N, d),\quad m: (B, N) \text{ bool},\quad s: (B, d)$$
#
# The sum is divided by the number of *real words*. A sentence without any word (an empty review is
# one) has a vector of zeros, and gradients of 0, not NaN.


# %% exercise
def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """Average the states of the real words.

    s = sum_j m_j h_j / sum_j m_j

    Args:
        states: (B, N, d).
        mask: bool (B, N), True = a real word.

    Returns:
        sentence vectors (B, d); zeros for a sentence without any real word.

    Source: Lin et al. (2017), section 1.
    """
    ### BEGIN SOLUTION
    total = states.masked_fill(~mask.unsqueeze(2), 0.0).sum(dim=1)  # (B, d)
    return total / mask.sum(dim=1, keepdim=True).clamp(min=1)  # (B, d)
    ### END SOLUTION


# %% [markdown]
# ## `masked_max`
#
# In the mean of a long sentence a single word hardly counts. The maximum lets one word decide, and
# for each feature it may be another one:
#
# $$s_k = \max_{j:\, m_j} h_{jk}
# \qquad h: (B, N, d),\quad m: (B, N) \text{ bool},\quad s: (B, d)$$
#
# A feature may be negative in all words of a sentence; then its maximum is negative. A sentence
# without any word has a vector of zeros, and gradients of 0.


# %% exercise
def masked_max(states: Tensor, mask: Tensor) -> Tensor:
    """Take the largest value of each feature over the real words.

    s_k = max over real j of h_{jk}

    Args:
        states: (B, N, d).
        mask: bool (B, N), True = a real word.

    Returns:
        sentence vectors (B, d); zeros for a sentence without any real word.

    Source: Lin et al. (2017), section 1.
    """
    ### BEGIN SOLUTION
    largest = states.masked_fill(~mask.unsqueeze(2), -torch.inf).amax(dim=1)  # (B, d)
    return largest.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)  # (B, d)
    ### END SOLUTION


# %% [markdown]
# ## `AttentionClassifier`
#
# The mean treats all words alike, the maximum compares numbers one by one. Neither has an idea of
# what matters. Attention has: it is Bahdanau's, and only the one who asks is new. In a translator
# the decoder's state asks, at each word it writes. A classifier writes nothing; so the encoder's
# *final* state asks, once. It has read the whole sentence, and goes back to the words with that.
#
# $$h_j = [\overrightarrow{h}_j ; \overleftarrow{h}_j], \qquad
# q = [\overrightarrow{h}_L ; \overleftarrow{h}_1], \qquad
# e_j = v^\top \tanh(W q + U h_j)$$
#
# $$\alpha_j = \frac{m_j \exp(e_j)}{\sum_{i} m_i \exp(e_i)}, \qquad
# \mathrm{logits} = W_o \sum_{j} \alpha_j h_j + b_o$$
#
# $$h: (B, N, 2d),\quad q: (B, 2d),\quad W, U: (a, 2d),\quad v: (a,),\quad \alpha: (B, N),\quad
# W_o: (C, 2d),\quad \mathrm{logits}: (B, C)$$
#
# * **Where each direction ends.** The forward network has read everything at the last word, the
#   backward network at the *first*. The LSTM returns both as `h_n` $(2, B, d)$, direction first,
#   and beside it `c_n`, its memory, which you do not need.
# * **Padding.** Neither direction may read it: `nn.utils.rnn.pack_padded_sequence` with
#   `enforce_sorted=False`, then `pad_packed_sequence` with `total_length`. And none of the weight
#   may fall on it.
# * **A sentence without any word** has weights of 0, and its logits are the bias.
#   `pack_padded_sequence` refuses a length of 0, so tell it 1, and see to it by the mask that this
#   word does not count.
#
# The matrices and vectors are parameters here, not arguments. `additive_score`, `masked_softmax` and
# `context_vector` of the Bahdanau notebook are given at the top.

# %% hints
# * Draw one sentence with two arrows above it. Where does each of the two LSTMs end? That is what
#   `h_n` holds, and it asks.
# * `h_n` is (direction, sentence, $d$). To put the two directions of *one sentence* side by side,
#   `view` is wrong: join `h_n[0]` and `h_n[1]` along their last axis, or transpose first. A
#   length of 0 has to be told to the packing as 1, on the CPU.
# * Embed with dropout, pack, LSTM, unpack with `total_length`; query, `additive_score` with your
#   parameters, `masked_softmax` with a mask made from the *true* lengths, `context_vector`,
#   dropout, output.


# %% exercise
class AttentionClassifier(nn.Module):
    """A bidirectional LSTM whose final state asks all states what matters.

    h_j = [h_j->; h_j<-],  q = [h_L->; h_1<-],  e_j = v^T tanh(W q + U h_j),
    alpha = softmax over the real words of e,  logits = W_o sum_j alpha_j h_j + b_o

    Parameters: `embedding.weight` (V, e); `rnn.*`, those of
    `nn.LSTM(e, d, batch_first=True, bidirectional=True)`; `W` (a, 2d), `U` (a, 2d), `v` (a,);
    `output.weight` W_o (C, 2d) and `output.bias` b_o (C,). Here e = embedding_size,
    d = hidden_size, a = attention_size and C = classes. In training, `dropout` acts on the embedded
    words and on the sentence vector.

    Source: The score is that of Bahdanau et al. (2015), section A.1.2, with another query.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        attention_size: int,
        classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.LSTM(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.W = nn.Parameter(torch.empty(attention_size, 2 * hidden_size))
        self.U = nn.Parameter(torch.empty(attention_size, 2 * hidden_size))
        self.v = nn.Parameter(torch.empty(attention_size))
        self.output = nn.Linear(2 * hidden_size, classes)
        self.dropout = nn.Dropout(dropout)
        for parameter in (self.W, self.U):
            nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.v, std=attention_size**-0.5)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Classify a batch of sentences.

        Args:
            tokens: ids (B, N); what stands after a sentence's end is arbitrary.
            lengths: number of real words of each sentence, (B,); may be 0.

        Returns:
            logits (B, C) and weights (B, N), exactly 0 on padding; for a sentence without any word
            the weights are 0 and the logits are b_o.
        """
        ### BEGIN SOLUTION
        words = self.dropout(self.embedding(tokens))  # (B, N, e)
        sequences = nn.utils.rnn.pack_padded_sequence(
            words, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )  # a sentence without words is read as one of padding, and masked below
        states, (final, _) = self.rnn(sequences)  # final: (2, B, d), forward and backward
        states = nn.utils.rnn.pad_packed_sequence(
            states, batch_first=True, total_length=tokens.shape[1]
        )[0]  # (B, N, 2d)
        query = final.transpose(0, 1).flatten(1)  # (B, 2d)
        mask = length_mask(lengths, tokens.shape[1])  # (B, N)
        scores = additive_score(query, states, self.W, self.U, self.v)  # (B, N)
        weights = masked_softmax(scores, mask)  # (B, N)
        sentence = context_vector(weights, states)  # (B, 2d)
        return self.output(self.dropout(sentence)), weights  # (B, C), (B, N)
        ### END SOLUTION


# %% [markdown]
# ## Build it, prove it equal
#
# What your functions make of a padded batch is what torch gives for each sentence alone, without
# padding. And attention that has nothing to say is the mean: with $v = 0$ all words have the same
# score.

# %% demo equal
# torch.manual_seed(0)
# sentences = [torch.randn(n, 5) for n in (6, 2, 4)]  # three sentences of words (L, 5)
# padded = nn.utils.rnn.pad_sequence(sentences, batch_first=True, padding_value=9.0)  # (3, 6, 5)
# real = (padded != 9.0).all(dim=2)  # (3, 6)
# counts = real.sum(dim=1)  # (3,)
# reader = nn.LSTM(5, 4, batch_first=True)  # from left to right
#
#
# def compare(name, mine, alone):
#     print(f"{name}: the largest difference is {(mine - torch.stack(alone)).abs().max().item():.1e}")
#
#
# with torch.no_grad():
#     finals = [reader(words)[1][0][0] for words in sentences]  # h_n of each sentence
#     compare("last state", last_state(reader(padded)[0], counts), finals)
#     compare("mean", masked_mean(padded, real), [words.mean(0) for words in sentences])
#     compare("maximum", masked_max(padded, real), [words.amax(0) for words in sentences])
#
#     bored = AttentionClassifier(10, 4, 3, 5, 2)
#     bored.v.zero_()
#     _, weights = bored(torch.randint(1, 10, (3, 6)).masked_fill(~real, 0), counts)
# print("weights with v = 0:")
# for row in weights.tolist():
#     print("  ", "  ".join(f"{weight:.3f}" for weight in row))

# %% [markdown]
# ## Four ways to read a review
#
# The course makes its own reviews, with a grammar. In each of them one or two sentences say what
# the writer thinks, in a few words; the rest tells a story, or what somebody else thought, or what
# was expected, with the same words of praise and blame. Which words decide is known.
#
# A bidirectional LSTM reads them, and on top of it stands each of your four ways to one vector.
# Training all four takes half a minute to two minutes on a CPU. (The first three are used through
# `PooledClassifier`, the same network with a function in place of the attention.)

# %% demo train
# from coursekit.models.baseline_classifiers import PooledClassifier, accuracy, classification_loss
# from coursekit.corpora.reviews import splits
# from coursekit.data.documents import text_batch, text_batches
# from coursekit.training import device, seed_everything, train
# from coursekit.text.vocabulary import WordVocabulary
#
#
# def at_last_word(states, mask):
#     return last_state(states, mask.sum(dim=1))
#
#
# reviews = splits(2000, 300, 1000, seed=1, ratings=(1, 2, 4, 5))  # 4 and 5 are good
# vocabulary = WordVocabulary([review.words for review in reviews.train])
# training, test = (
#     [(vocabulary.encode(review.words, eos=False), review.label) for review in part]
#     for part in (reviews.train, reviews.test)
# )
# V, e, d = len(vocabulary), 32, 32
# build = {
# "at the last word": lambda: PooledClassifier(V, e, d, at_last_word, classes=2),
#     "mean": lambda: PooledClassifier(V, e, d, masked_mean, classes=2),
#     "maximum": lambda: PooledClassifier(V, e, d, masked_max, classes=2),
#     "attention": lambda: AttentionClassifier(V, e, d, attention_size=32, classes=2),
# }
# models = {}
# for name, make in build.items():
#     seed_everything(1)
#     models[name] = make()
#     train(
#         models[name],
#         lambda epoch: text_batches(training, 32, seed=epoch),
#         classification_loss,
#         epochs=5,
#         learning_rate=5e-3,
#         decay=True,
#     )
#     found = accuracy(models[name], text_batches(test, 100, seed=0))
#     print(f"{name:<16} {found:6.1%} of the test reviews are right")

# %% [markdown]
# Attention is not ahead here: the maximum is about as good, although it compares numbers one by one. In these reviews a
# few strong words decide, and a maximum finds a strong word, wherever it stands; what it cannot do is say *which* word it
# was. So read the table as: choosing helps against the mean and against the states at the last word (question 1 asks whether
# that is a fair rival), and there is more than one way to choose.
#
# And where did the attention look? A review's deciding words are few. How much of the weight do
# they get?

# %% demo look
# from coursekit.widgets import WordsExplorer
#
# shares, chances, shown = [], [], []
# for review, item in zip(reviews.test, test):
#     batch = text_batch([item]).to(device())
#     with torch.no_grad():
#         logits, weights = models["attention"](batch.tokens, batch.lengths)
#     row, decisive = weights[0].cpu(), sorted(review.deciding_positions)
#     shares.append(row[decisive].sum().item())
#     chances.append(len(decisive) / len(row))
#     if len(shown) < 8 and len(review.sentences) > 2:
#         good = logits.softmax(dim=1)[0, 1].item()
#         shown.append(
#             {
#                 "words": list(review.words),
#                 "weights": {"your attention": row},
#                 "marked": decisive,
#                 "told": {"your attention": f"{review.rating} of 5; good with p = {good:.2f}"},
#             }
#         )
# print(f"weight on the deciding words: {sum(shares) / len(shares):.0%}")
# print(f"they are {sum(chances) / len(chances):.0%} of the words")
# display(WordsExplorer(shown, marked="the words that decide"))

# %% [markdown] play-text-review
# **Predict, then run.** Write a review with the words of the others. What happens to the weights, and to the class, if you put
# "not" before the word of praise? And if a friend is the one who praises?

# %% play review
# review = " ".join(reviews.test[0].words)  # or your own words; unknown ones become <unk>
# ids = vocabulary.encode(review.split(), eos=False)
# batch = text_batch([(ids, 0)]).to(device())
# with torch.no_grad():
#     logits, weights = models["attention"](batch.tokens, batch.lengths)
# print(f"good with p = {logits.softmax(dim=1)[0, 1].item():.2f}")
# for word, weight in zip(review.split(), weights[0].tolist()):
#     print(f"{weight:5.0%} {'#' * round(40 * weight):<40} {word}")

# %% [markdown]
# Or see it word by word: the explorer of [chapter 6](../../book/06_sentences.md), with your attention. Each change is judged at once; a word can be
# shut out of the attention, and the colours can show the weights, or how much the verdict changes without a word.

# %% demo explorer
# from coursekit.widgets import ReviewExplorer, pack
#
# begun = [
#     (review.words, f"In truth it has {review.rating} of 5 stars.") for review in reviews.test[:6]
# ]
# most = max(len(review.words) for review in reviews.train)
# display(ReviewExplorer(pack(models["attention"]), vocabulary, begun, most=most))

# %% [markdown] questions
# **To think about.** To change a given cell, which is locked, copy it (*Edit*, *Copy Cells*, *Paste*).
#
# 1. `at_last_word` takes the state at the last word from *both* directions. What has the backward
#    network read there? Write a function that takes what `h_n` has, and train again.
# 2. Where does the attention look in a review that it gets wrong?
# 3. The weights lie on *states*. The word after "not" gets much weight; why may that do as well as
#    weight on "not" itself?
# 4. Leave the query out of the score. How much worse does the classifier get on reviews as short as
#    these?

# %% answers
# 1. One word: the last. At the last word the backward network has only just begun; its state is
#    that of a one-word sentence. `h_n` holds its state at the *first* word instead. Take the
#    forward half at `lengths - 1` and the backward half at 0. The row "at the last word" in the
#    table above is therefore a little unfair to it.
# 2. Look at some: often at words of praise or blame that belong to somebody else, to what a
#    friend said or what was expected; sometimes at the right ones, and the negation was read
#    wrongly. The two kinds need different cures.
# 3. A state is no word. The state at the word after *not* has read *not*, and the backward state
#    has read what follows: "not good" fits into that one vector. Weights tell where a vector was
#    taken from, and not what was in it.
# 4. Little. Without the query the score is $v^\top \tanh(U h_j)$, which is learned attention as in
#    the next notebooks: "what matters in reviews" hardly depends on this review's final state.
#    Try it: set `W` to 0 and freeze it.
