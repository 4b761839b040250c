# %% [markdown]
# # Documents II: the hierarchical attention network
#
# A document is not one long sentence. Its words form sentences, its sentences form the document,
# and both levels have words, or sentences, that matter and others that do not. The network of Yang
# et al. (2016) has the same form. In this notebook you put its five parts together. At the end it
# reads reviews, with your own attention on both levels.
#
# {{ exercises }}
#
# **Before you begin.** You need `attention.ipynb`, solved. The ideas are explained in [Chapter 7](../../book/07_han.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Shapes.** $B$ documents in the batch, $L$ sentences, $T$ words in a sentence, $V$ words in the
# vocabulary, $e$ the size of an embedding, $d$ of a GRU's state in one direction, $C$ classes.
# Documents are ids $(B, L, T)$; the id 0 is padding, after the words of a sentence and after the
# sentences of a document.

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
# figure = diagrams.draw("hierarchy")

# %% [markdown]
# ## Given: `read`
#
# Recurrent networks and padding again. You have written this before; here it is given. `read` runs
# a network over padded sequences, each with its own length, and a length may be 0: such a row holds
# numbers that mean nothing, and that nobody must look at.


# %% read
def read(rnn: nn.Module, x: Tensor, lengths: Tensor) -> Tensor:
    """Run a recurrent network over padded sequences, which may be empty: (B, N, i) -> (B, N, 2d)."""
    compact = nn.utils.rnn.pack_padded_sequence(
        x, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
    )
    return nn.utils.rnn.pad_packed_sequence(
        rnn(compact)[0], batch_first=True, total_length=x.shape[1]
    )[0]


# %% [markdown]
# ## `HierarchicalAttentionNetwork`
#
# Five parts, from the bottom to the top:
#
# 1. **Word encoder.** A bidirectional GRU reads each sentence by itself:
#    $h_{it} = [\overrightarrow{h}_{it} ; \overleftarrow{h}_{it}]$ for word $t$ of sentence $i$.
# 2. **Word attention.** $s_i,\ \alpha_i = \mathrm{attention}_w(h_{i1}, \dots, h_{iT})$: a vector
#    for each sentence.
# 3. **Sentence encoder.** A second bidirectional GRU reads the sentence vectors of a document:
#    $h_i = [\overrightarrow{h}_i ; \overleftarrow{h}_i]$.
# 4. **Sentence attention.** $v,\ \alpha = \mathrm{attention}_s(h_1, \dots, h_L)$: a vector for the
#    document.
# 5. **Classifier.** $\mathrm{logits} = W_c v + b_c$. (Equation 11 has a softmax around it; in this
#    course the loss takes it.)
#
# $$\begin{gathered}
# h_{it}: (B, L, T, 2d),\quad \alpha_{it}: (B, L, T),\quad s_i: (B, L, 2d) \\
# h_i: (B, L, 2d),\quad \alpha_i: (B, L),\quad v: (B, 2d),\quad W_c: (C, 2d)
# \end{gathered}$$
#
# * **Two levels, one trick.** On the word level the $B$ documents of $L$ sentences are $B \cdot L$
#   sentences: `flatten(0, 1)` makes one axis of two, `unflatten` or `reshape` two of one. All GRUs
#   and attentions then see three axes, as always.
# * **Lengths come from the ids.** A word is real if its id is not 0; a sentence is real if it has a
#   word.
# * **Empty sentences.** After the last sentence that has words there is only padding, which the
#   sentence GRU must not read. An empty sentence *between* others is read: its vector is 0, the GRU
#   takes a step, but the sentence attention gives it no weight. So the length of a document is the
#   place of its last sentence that has words, not the number of those that have.
# * **Empty documents** have weights of 0 and the logits $b_c$.
# * Both attentions are given to the constructor, and each is called with `(states, mask)`: states
#   $(B', N, 2d)$ and a boolean mask $(B', N)$. The check passes its own; below, you pass yours.
#
# The paper's GRU (equations 1 to 4) resets after the product, as torch's does. Only $z$ and $1 - z$
# have changed places: the paper keeps $(1 - z_t) \odot h_{t-1}$, torch $z_t \odot h_{t-1}$. What
# the one gate learns, the other can.

# %% hints
# * Do it once on paper for one document of two sentences. Which axis do the word GRU and the word
#   attention run along, and which the second pair? All they ever see is three axes.
# * Everything about lengths comes from one boolean tensor, `documents != 0`. Words of a sentence:
#   count them. Sentences of a document: *not* the number of those with words, but the place of
#   the last one.
# * Flatten batch and sentences, `read`, word attention, unflatten; an empty sentence has the
#   vector 0 because your attention gave it weights of 0. Then `read` with the documents' lengths,
#   sentence attention with the mask of sentences that have words, dropout, output. Unflatten the
#   word weights as well.


# %% exercise
class HierarchicalAttentionNetwork(nn.Module):
    """Words make sentences, sentences make the document, and attention chooses on both levels.

    h_it = BiGRU(E w_it) over the words t of sentence i,  s_i, alpha_i = word_attention(h_i),
    h_i = BiGRU(s_i) over the sentences i,  v, alpha = sentence_attention(h),  logits = W_c v + b_c

    Parameters: `embedding.weight` E (V, e); `word_rnn.*`, those of
    `nn.GRU(e, d, batch_first=True, bidirectional=True)`; `word_attention.*`; `sentence_rnn.*`,
    those of `nn.GRU(2d, d, batch_first=True, bidirectional=True)`; `sentence_attention.*`;
    `output.weight` W_c (C, 2d) and `output.bias` b_c (C,). Here e = embedding_size,
    d = hidden_size and C = classes. In training, `dropout` acts on the embedded words and on v.

    Source: Yang et al. (2016), figure 2 and equations 1 to 11.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        word_attention: nn.Module,
        sentence_attention: nn.Module,
        classes: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.word_rnn = nn.GRU(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.word_attention = word_attention
        self.sentence_rnn = nn.GRU(
            2 * hidden_size, hidden_size, batch_first=True, bidirectional=True
        )
        self.sentence_attention = sentence_attention
        self.output = nn.Linear(2 * hidden_size, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, documents: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Classify a batch of documents.

        Args:
            documents: ids (B, L, T), L sentences of T words; 0 is padding, after the words of a
                sentence and after the sentences of a document. A document may be empty, and so may a
                sentence: one between others is read as a vector of zeros and gets no weight.

        Returns:
            logits (B, C), word weights (B, L, T), which sum to 1 over the words of each sentence
            that has any, and sentence weights (B, L), which sum to 1 over the sentences that have
            words. A document without words has weights of 0 and the logits b_c.
        """
        ### BEGIN SOLUTION
        batch, sentences = documents.shape[:2]
        real = documents != 0  # (B, L, T)
        flat = real.flatten(0, 1)  # (B L, T)
        embedded = self.dropout(self.embedding(documents)).flatten(0, 1)  # (B L, T, e)
        states = read(self.word_rnn, embedded, flat.sum(dim=1))  # (B L, T, 2d)
        vectors, word_weights = self.word_attention(states, flat)  # (B L, 2d), (B L, T)
        vectors = vectors.unflatten(0, (batch, sentences))  # (B, L, 2d)
        # An empty sentence in the middle is read as a vector of zeros, but never attended to.
        mask = real.any(dim=2)  # (B, L)
        places = torch.arange(1, sentences + 1, device=documents.device)  # (L,)
        lengths = (mask * places).amax(dim=1)  # (B,)
        states = read(self.sentence_rnn, vectors, lengths)  # (B, L, 2d)
        document, sentence_weights = self.sentence_attention(states, mask)  # (B, 2d), (B, L)
        logits = self.output(self.dropout(document))  # (B, C)
        return logits, word_weights.unflatten(0, (batch, sentences)), sentence_weights
        ### END SOLUTION


# %% [markdown]
# ## Your own network reads reviews
#
# Save `attention.ipynb`: the next cell reads your `AttentionPooling` from the disk. The reviews are made by the course's grammar, 3 to 10 sentences each. One of them,
# sometimes two, says what the writer thinks; the others tell a story, or what somebody else
# thought. Which words and which sentences decide is known. Training takes 15 to 60 seconds
# on a CPU.

# %% demo together
# from coursekit.notebook.session import import_answers
#
# import_answers("attention.ipynb")

# %% demo train
# from coursekit.models.baseline_classifiers import accuracy, classification_loss
# from coursekit.corpora.reviews import reviews as make_reviews
# from coursekit.data.documents import document_batch, document_batches
# from coursekit.training import device, seed_everything, train
# from coursekit.text.vocabulary import WordVocabulary
#
#
# def as_document(review):
#     ids = [vocabulary.encode(sentence, eos=False) for sentence in review.sentences]
#     return ids, review.label
#
#
# made = make_reviews(
#     2000, seed=1, min_sentences=3, max_sentences=10, ratings=(1, 2, 4, 5)  # 4 and 5 are good
# )
# unseen, known = made[:500], made[500:]
# vocabulary = WordVocabulary(sentence for review in known for sentence in review.sentences)
# training, test = ([as_document(review) for review in part] for part in (known, unseen))
# seed_everything(1)
# d = 32
# model = HierarchicalAttentionNetwork(
#     len(vocabulary),
#     embedding_size=32,
#     hidden_size=d,
#     word_attention=AttentionPooling(2 * d, 32),
#     sentence_attention=AttentionPooling(2 * d, 32),
#     classes=2,
# )
# history = train(
#     model,
#     lambda epoch: document_batches(training, 32, seed=epoch),
#     classification_loss,
#     epochs=7,
#     learning_rate=5e-3,
#     decay=True,
# )
# print("loss per epoch:", ", ".join(f"{x:.2f}" for x in history.column("loss")))
# right = accuracy(model, document_batches(test, 100, seed=0))
# print(f"{right:.1%} of the test reviews are right")

# %% [markdown]
# Does it look at what decides? For each test review: how much of the sentence attention lies on the
# deciding sentences, and, in those, how much of the word attention on the deciding words. Beside
# it, what an even spread would give.

# %% demo look
# from coursekit.widgets import WordsExplorer
#
# sums, pairs, shown = torch.zeros(4), 0, []
# for review, item in zip(unseen, test):
#     with torch.no_grad():
#         logits, alphas, alpha = model(document_batch([item]).documents.to(device()))
#     alphas, alpha = alphas[0].cpu(), alpha[0].cpu()  # (L, T), (L,)
#     chosen = sorted(review.deciding_sentences)
#     sums[0] += alpha[chosen].sum()
#     sums[1] += len(chosen) / len(review.sentences)
#     for i in chosen:
#         words = [t for place, t in review.deciding_words if place == i]
#         sums[2] += alphas[i, words].sum()
#         sums[3] += len(words) / len(review.sentences[i])
#         pairs += 1
#     if len(shown) < 8:
#         good = logits.softmax(dim=1)[0, 1].item()
#         rows = [row[: len(s)] for row, s in zip(alphas, review.sentences)]
#         shown.append(
#             {
#                 "words": [list(sentence) for sentence in review.sentences],
#                 "weights": {"your network": rows},
#                 "sentence_weights": {"your network": alpha},
#                 "marked": review.deciding_positions,
#                 "told": {"your network": f"{review.rating} of 5; good with p = {good:.2f}"},
#             }
#         )
# found = (sums / torch.tensor([len(test), len(test), pairs, pairs])).tolist()
# print(f"weight on the deciding sentences: {found[0]:.0%} (evenly spread: {found[1]:.0%})")
# print(f"in them, on the deciding words:   {found[2]:.0%} (evenly spread: {found[3]:.0%})")
# display(WordsExplorer(shown, marked="the words that decide"))

# %% [markdown] play-text-document
# **Predict, then run.** Take the deciding sentence out of a review: where does the sentence attention go? Then put it at the
# end, or say the opposite in another one.

# %% play document
# review = unseen[0]
# sentences = [list(s) for s in review.sentences]  # leave one out, move one, write one
# document = [vocabulary.encode(s, eos=False) for s in sentences]
# with torch.no_grad():
#     logits, alphas, alpha = model(document_batch([(document, 0)]).documents.to(device()))
# print(f"good with p = {logits.softmax(dim=1)[0, 1].item():.2f}")
# for sentence, weight, row in zip(sentences, alpha[0].tolist(), alphas[0]):
#     best = sentence[int(row[: len(sentence)].argmax())]
#     print(f"{weight:5.0%}  ({best})  {' '.join(sentence)}")

# %% [markdown] questions
# **To think about.** To change a given cell, which is locked, copy it (*Edit*, *Copy Cells*, *Paste*).
#
# 1. Find a review in which "good" gets much weight, and one in which it gets little. What stands
#    around it?
# 2. Give the word attention a context vector of 0 that is not trained. How much accuracy does it
#    cost? And the sentence attention?
# 3. One attention over all words of a document at once, without sentences: what would its weights have to do
#    that these two need not?
# 4. Why is the weight of a word *in its document* the product of two weights? Multiply them, and
#    find the ten heaviest words of the test set.

# %% answers
# 1. Sort the words "good" by their weight. The heavy ones stand in the sentence that decides and
#    speak for the writer; the light ones come after "my friend thought" or similar, or the
#    sentence around them is about something else.
# 2. A context vector of 0 gives an even average. Without word attention the recurrent states
#    still know what was read, so little is lost in short sentences. Without sentence attention
#    the one deciding sentence is one among up to ten, and more is lost. Measure both; the second
#    is the one that the task was built to need.
# 3. Its weights would compare words of all sentences with each other in one softmax: a word would
#    have to beat the words of ten sentences, and one that decides its own sentence, but nothing
#    else, would have to be told apart from one that decides the document. With two levels each
#    question is asked among few.
# 4. The document's vector sums sentence vectors by $\alpha_i$, and those sum word states by
#    $\alpha_{it}$. (Between them stands a GRU, so the product is a reading aid, no exact share.)
#    The products of a document sum to 1, as the weights of its words should.

# %% [markdown] open-task
# ## An open task
#
# Teach the network with a tenth of the reviews, 150 in place of 1500. How much of the accuracy can you keep: by dropout, a smaller state, more
# epochs, embeddings from `embeddings/vectors.ipynb`? Average three seeds: with so few reviews one run says little.
#
# | | |
# | --- | --- |
# | ours, one run on a CPU | with all 1500 reviews 92.6 % right, 80 % of the sentence weight on the deciding sentences |
# | yours | |
