# %% [markdown]
# # Documents I: attention with a question of its own
#
# Not every word of a sentence says what the sentence is about, and not every sentence of a document
# matters for its class. Yang et al. (2016) let attention choose on both levels. No decoder asks for
# anything here; so they *learn* the question: a vector that asks "which is the informative word?"
# of all sentences alike. In this notebook you write that attention. The next one uses it twice.
#
# {{ exercises }}
#
# **Before you begin.** You need nothing; the score is nearly that of `bahdanau/scores.ipynb`. The ideas are explained in [Chapter 7](../../book/07_han.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Shapes.** $B$ rows in the batch, each a sentence of $N$ words or a document of $N$ sentences;
# $d$ the size of a state, $a$ of its projection. The mask is boolean and `True` means *real*. It
# may have holes: a document may have an empty sentence in its middle.

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
# figure = diagrams.draw("question")

# %% earlier
from solutions.bahdanau.scores import context_vector, masked_softmax

# %% [markdown]
# ## `AttentionPooling`
#
# Three steps. A layer makes of each state a hidden representation $u_j$; what it says is compared
# with the *context vector* $u_w$ by a dot product; a softmax turns the scores into weights, and the
# states themselves are averaged.
#
# $$u_j = \tanh(W h_j + b), \qquad
# \alpha_j = \frac{m_j \exp(u_j^\top u_w)}{\sum_{i=1}^{N} m_i \exp(u_i^\top u_w)}, \qquad
# s = \sum_{j=1}^{N} \alpha_j h_j$$
#
# $$h: (B, N, d),\quad W: (a, d),\quad b, u_w: (a,),\quad u: (B, N, a),\quad \alpha: (B, N),\quad s: (B, d)$$
#
# * It is the additive score without a query, and with a bias: $u_w$ stands where $v$ stood, and the
#   bias where $W q$ was, the same for all sentences.
# * What is averaged are the states $h_j$, not the $u_j$.
# * The paper writes the same formulas twice, for words ($W_w, b_w, u_w$) and for sentences
#   ($W_s, b_s, u_s$). One class does for both.
# * A row in which nothing is real has weights of 0 and a vector of 0, with gradients of 0.

# %% hints
# * Compare the formula with `additive_score`. What plays the part of $v$, and what became of the
#   query?
# * The linear layer, tanh and a product with the context vector give one number for each state;
#   `masked_softmax` makes weights of them.
# * Average the *states*, not the projected ones. `context_vector` is given at the top.


# %% exercise
class AttentionPooling(nn.Module):
    """Attention without a query from outside: a learned vector asks which states are informative.

    u_j = tanh(W h_j + b),  alpha = softmax over the real j of u_j^T u_w,  s = sum_j alpha_j h_j

    Parameters: `projection.weight` W (a, d), `projection.bias` b (a,), `context` u_w (a,), where
    d = input_size and a = attention_size.

    Source: Yang et al. (2016), equations 5 to 7 for words, 8 to 10 for sentences.
    """

    def __init__(self, input_size: int, attention_size: int):
        super().__init__()
        self.projection = nn.Linear(input_size, attention_size)
        self.context = nn.Parameter(torch.empty(attention_size))
        nn.init.normal_(self.context, std=attention_size**-0.5)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Average the states that are worth it.

        Args:
            states: h, (B, N, d).
            mask: bool (B, N), True = a real word (or sentence).

        Returns:
            s (B, d) and weights (B, N), exactly 0 where the mask is False; both 0 for a row without
            anything real.
        """
        ### BEGIN SOLUTION
        scores = torch.tanh(self.projection(states)) @ self.context  # (B, N)
        weights = masked_softmax(scores, mask)  # (B, N)
        return context_vector(weights, states), weights  # (B, d), (B, N)
        ### END SOLUTION


# %% [markdown]
# ## What it can and cannot do
#
# First, two limits of your attention, with no training at all. A context vector of 0 asks nothing,
# and the average is the plain mean of the real states. A very long one leaves all the weight to the
# one word whose $u_j$ fits best.

# %% demo equal
# torch.manual_seed(0)
# pool = AttentionPooling(input_size=5, attention_size=4)
# states = torch.randn(1, 6, 5)  # (B, N, d)
# real = torch.tensor([[True, True, False, True, True, False]])  # (B, N), with a hole
# asked = pool.context.detach().clone()
# with torch.no_grad():
#     for factor in (0, 1, 10, 1000):
#         pool.context.copy_(factor * asked)
#         pooled, weights = pool(states, real)
#         shown = "  ".join(f"{weight:.2f}" for weight in weights[0].tolist())
#         distance = (pooled - states[real].mean(dim=0)).norm().item()
#         print(f"{factor:>4} u_w: weights {shown}   distance to the mean {distance:.2f}")

# %% [markdown]
# Then, what it learns. The reviews are made by the course's grammar; in each a few words say what
# the writer thinks, and the same words of praise and blame stand elsewhere too: in what a friend
# thought, or after a "not". Here your attention reads *word embeddings*, without any recurrent
# network in between. So a word has one and the same $u_j$, wherever it stands. 5 to 20 seconds on a
# CPU.

# %% demo train
# from coursekit.data.batching import length_mask
# from coursekit.models.baseline_classifiers import accuracy, classification_loss
# from coursekit.corpora.reviews import splits
# from coursekit.data.documents import text_batches
# from coursekit.training import seed_everything, train
# from coursekit.text.vocabulary import WordVocabulary
#
#
# class WordChooser(nn.Module):
#     """A bag of words that chooses: embeddings, attention, a linear layer."""
#
#     def __init__(self, vocabulary_size, embedding_size, classes):
#         super().__init__()
#         self.embedding = nn.Embedding(vocabulary_size, embedding_size)
#         self.attention = AttentionPooling(embedding_size, embedding_size)
#         self.output = nn.Linear(embedding_size, classes)
#
#     def forward(self, tokens, lengths):
#         mask = length_mask(lengths, tokens.shape[1])  # (B, N)
#         vector, weights = self.attention(self.embedding(tokens), mask)
#         return self.output(vector), weights  # (B, C), (B, N)
#
#
# reviews = splits(2000, 300, 1000, seed=1, ratings=(1, 2, 4, 5))  # 4 and 5 are good
# vocabulary = WordVocabulary([review.words for review in reviews.train])
# training, test = (
#     [(vocabulary.encode(review.words, eos=False), review.label) for review in part]
#     for part in (reviews.train, reviews.test)
# )
# seed_everything(1)
# model = WordChooser(len(vocabulary), 32, classes=2)
# train(
#     model,
#     lambda epoch: text_batches(training, 32, seed=epoch),
#     classification_loss,
#     epochs=8,
#     learning_rate=5e-3,
#     decay=True,
# )
# print(f"{accuracy(model, text_batches(test, 100, seed=0)):.1%} of the test reviews are right")
#
# # What each word of the vocabulary would get if all stood in one long sentence.
# where = model.embedding.weight.device
# ids = torch.arange(4, len(vocabulary), device=where).unsqueeze(0)  # (1, V - 4)
# with torch.no_grad():
#     _, weights = model(ids, torch.tensor([ids.shape[1]], device=where))
# order = weights[0].argsort(descending=True).tolist()
# words = vocabulary.tokens(ids[0].tolist())
# print("most weight: ", ", ".join(words[i] for i in order[:12]))
# print("least weight:", ", ".join(words[i] for i in order[-12:]))

# %% [markdown] play-text-sentence
# **Predict, then run.** The model knows words, but not their order. Which sentences does it get wrong, whatever it has learned?
# Write one.

# %% play sentence
# sentence = " ".join(reviews.test[0].words)  # or your own
# tokens = torch.tensor([vocabulary.encode(sentence.split(), eos=False)], device=where)
# with torch.no_grad():
#     logits, weights = model(tokens, torch.tensor([tokens.shape[1]], device=where))
# print(f"good with p = {logits.softmax(dim=1)[0, 1].item():.2f}")
# for word, weight in zip(sentence.split(), weights[0].tolist()):
#     print(f"{weight:5.0%} {'#' * round(40 * weight):<40} {word}")

# %% [markdown] questions
# Do not read the list of words with the least weight as a list of words without meaning. A word may be told from its
# opposite by the linear layer and still get little weight because it is rare, or because it often stands in what somebody
# else thought: "fantastic" may well be at the bottom.
#
# **To think about.**
#
# 1. Does "not" get much weight? What would the model need to know of "not good" that an average of
#    two embeddings, however weighed, cannot tell it?
# 2. In `network.ipynb` the states of a recurrent network stand where the embeddings stand here.
#    What can the score of "good" then depend on?
# 3. Add 5 to every number of $b$ after training. Which weights change, and why does a bias
#    *outside* the tanh change none?
# 4. Leave out the tanh. Of which single vector is the score then a dot product with $h_j$?

# %% answers
# 1. Hardly ever as much as words of praise and blame. An average adds a vector for *not* and one
#    for *good*, whatever stands between them, and so *not good* and *good, not expensive* come
#    out the same. It would have to know that the one stands *before* the other: order, or a state
#    that has read both.
# 2. On the whole sentence, through the state: "good" after "not", in a quotation, or in a
#    sentence about somebody else, is a different state and may get a different score.
# 3. Not all alike: inside the tanh the 5 pushes every $u_j$ towards 1, where tanh is flat, so the
#    scores become nearly equal and the weights nearly even. A bias *outside* would add the same
#    number to all scores, and a softmax does not see that.
# 4. Of $W^\top u_w$: $(W h_j + b)^\top u_w = h_j^\top (W^\top u_w) + b^\top u_w$, and the second
#    term is the same for all words. A whole layer would shrink to one vector.
