# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown] nbgrader={"grade": false, "grade_id": "title", "locked": true, "solution": false}
# # Documents I: attention with a question of its own
#
# Not every word of a sentence says what the sentence is about, and not every sentence of a document
# matters for its class. Yang et al. (2016) let attention choose on both levels. No decoder asks for
# anything here; so they *learn* the question: a vector that asks "which is the informative word?"
# of all sentences alike. In this notebook you write that attention. The next one uses it twice.
#
# | exercise | what it computes | paper | difficulty | minutes |
# | --- | --- | --- | --- | --- |
# | `AttentionPooling` | an average of the informative states | eq. 5 to 7, 8 to 10 | ●●○ | 20 |
#
# **Shapes.** $B$ rows in the batch, each a sentence of $N$ words or a document of $N$ sentences;
# $d$ the size of a state, $a$ of its projection. The mask is boolean and `True` means *real*. It
# may have holes: a document may have an empty sentence in its middle.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "solution": false}
import torch
from torch import Tensor, nn

# %% nbgrader={"grade": false, "grade_id": "setup-check", "locked": true, "solution": false} tags=["active-ipynb"]
# from autograder import check

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-AttentionPooling", "locked": true, "solution": false}
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
#
# *Yang et al. (2016), equations 5 to 7 for words, 8 to 10 for sentences. Difficulty ●●○, about 20
# minutes.*


# %% nbgrader={"grade": false, "grade_id": "AttentionPooling", "locked": false, "solution": true}
class AttentionPooling(nn.Module):
    """Attention without a query from outside: a learnt vector asks which states are informative.

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
        empty = ~mask.any(dim=1, keepdim=True)  # (B, 1)
        scores = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)  # (B, N)
        weights = torch.softmax(scores, dim=1).masked_fill(empty, 0.0)  # (B, N)
        return torch.einsum("bn,bnd->bd", weights, states), weights  # (B, d), (B, N)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test-AttentionPooling", "locked": true, "points": 4, "solution": false} tags=["active-ipynb"]
# check(AttentionPooling)
# ### BEGIN HIDDEN TESTS
# from autograder.instructor import examine

# examine(AttentionPooling)
# ### END HIDDEN TESTS

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-equal", "locked": true, "solution": false}
# ## What it can and cannot do
#
# First, two limits of your attention, with no training at all. A context vector of 0 asks nothing,
# and the average is the plain mean of the real states. A very long one leaves all the weight to the
# one word whose $u_j$ fits best.

# %% nbgrader={"grade": false, "grade_id": "equal", "locked": true, "solution": false} tags=["active-ipynb"]
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

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-train", "locked": true, "solution": false}
# Then, what it learns. The reviews are made by the course's grammar; in each a few words say what
# the writer thinks, and the same words of praise and blame stand elsewhere too: in what a friend
# thought, or behind a "not". Here your attention reads *word embeddings*, without any recurrent
# network in between. So a word has one and the same $u_j$, wherever it stands. A few seconds on a
# CPU.

# %% nbgrader={"grade": false, "grade_id": "train", "locked": true, "solution": false} tags=["active-ipynb"]
# from coursekit import settings
# from coursekit.classifiers import accuracy, classification_loss, real_words
# from coursekit.corpora.reviews import splits
# from coursekit.documents import text_batches
# from coursekit.training import seed_everything, train
# from coursekit.vocabulary import WordVocabulary
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
#         vector, weights = self.attention(self.embedding(tokens), real_words(tokens, lengths))
#         return self.output(vector), weights  # (B, C), (B, N)
#
#
# # Not while grading, and not again when network.ipynb runs this notebook.
# if not settings.grading() and "__file__" not in globals():
#     reviews = splits(2000, 300, 1000, seed=1, ratings=(1, 2, 4, 5))  # 4 and 5 are good
#     vocabulary = WordVocabulary([review.words for review in reviews.train])
#     training, test = (
#         [(vocabulary.encode(review.words, eos=False), review.label) for review in part]
#         for part in (reviews.train, reviews.test)
#     )
#     seed_everything(1)
#     model = WordChooser(len(vocabulary), 32, classes=2)
#     train(
#         model,
#         lambda epoch: text_batches(training, 32, seed=epoch),
#         classification_loss,
#         epochs=8,
#         learning_rate=5e-3,
#         decay=True,
#     )
#     print(f"{accuracy(model, text_batches(test, 100, seed=0)):.1%} of the test reviews are right")
#
#     # What each word of the vocabulary would get if all stood in one long sentence.
#     where = model.embedding.weight.device
#     ids = torch.arange(4, len(vocabulary), device=where).unsqueeze(0)  # (1, V - 4)
#     with torch.no_grad():
#         _, weights = model(ids, torch.tensor([ids.shape[1]], device=where))
#     order = weights[0].argsort(descending=True).tolist()
#     words = vocabulary.tokens(ids[0].tolist())
#     print("most weight: ", ", ".join(words[i] for i in order[:12]))
#     print("least weight:", ", ".join(words[i] for i in order[-12:]))

# %% [markdown] nbgrader={"grade": false, "grade_id": "text-questions", "locked": true, "solution": false}
# **To think about.**
#
# 1. Does "not" get much weight? What would the model need to know of "not good" that an average of
#    two embeddings, however weighed, cannot tell it?
# 2. In `network.ipynb` the states of a recurrent network stand where the embeddings stand here.
#    What can the score of "good" then depend on?
# 3. Add 5 to every number of $b$ after training. Which weights change, and why does a bias
#    *outside* the tanh change none?
# 4. Leave out the tanh. Of which single vector is the score then a dot product with $h_j$?
