# %% [markdown]
# # Show, attend and tell II: a caption, word by word
#
# In `attention.ipynb` you built two ways to look at a picture. Here you build what does the looking: the decoder
# of Xu et al. (2015), an LSTM that looks before every word. At the end it describes pictures that it has
# never seen, and you draw where it looked for each word.
#
# {{ exercises }}
#
# **Before you begin.** You need `attention.ipynb`, solved. The ideas are explained in [Chapter 5](../../book/05_captioning.md). Allow half to one and
# a half times the minutes in the table, depending on how well you know torch.
#
# **Shapes.** $B$ pictures in the batch, $N$ locations of a picture, $T$ words of a caption, $V$ words in the
# vocabulary, $d$ the size of a state, $e$ of an embedding, $d_k$ of an annotation.

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
# figure = diagrams.draw("caption-step")

# %% [markdown]
# ## `CaptionDecoder`
#
# Four methods, each a few lines.
#
# 1. **`start`.** Before the first word the decoder gets an impression of the whole picture: the mean of all
#    annotations. An LSTM has two vectors to begin with, its state $h$ and its memory $c$, and each has a layer
#    of its own.
#
#    $$h_0 = \tanh\left(W_h \bar a + b_h\right),\quad c_0 = \tanh\left(W_c \bar a + b_c\right),\quad
#    \bar a = \frac{1}{N}\sum_i a_i \qquad a: (B, N, d_k),\quad h, c: (B, d)$$
#
# 2. **`step`.** Look, then move on. The query is the state *before* this word, and what the attention returns
#    is the context, gate and all: take it as it is.
#
#    $$z_t = \mathrm{attention}(h_{t-1}, a), \qquad
#    (h_t, c_t) = \mathrm{LSTM}\left([E y_{t-1} ; z_t],\, (h_{t-1}, c_{t-1})\right)
#    \qquad E y: (B, e),\quad z: (B, d_k)$$
#
# 3. **`readout`.** Three vectors speak about the next word: the word before, the state, and what is seen right
#    now. They are added, and one more layer scores the vocabulary.
#
#    $$\mathrm{logits}_t = L_o\left(E y_{t-1} + L_h h_t + L_z z_t\right) + b_o
#    \qquad L_h: (e, d),\quad L_z: (e, d_k),\quad L_o: (V, e),\quad \mathrm{logits}: (B, V)$$
#
#    The leading axes may be $(B,)$ or $(B, T)$; there is no tanh, and the softmax is part of the loss.
#
# 4. **`forward`.** In training the true words are known (*teacher forcing*): `tokens[:, t]` is the word before
#    the one that `logits[:, t]` predicts, so `tokens` begins with the id that marks the beginning of a caption.
#
# The decoder is given its attention and calls `attention(query, annotations)`, which returns a context
# $(B, d_k)$ and weights $(B, N)$. The check passes an attention of its own; below, you pass yours.

# %% hints
# * Four methods, in the order of the text. The state is a pair $(h, c)$; only $h$ asks and only
#   $h$ is read out.
# * `step`: attention first, with $h_{t-1}$; then the LSTM cell reads word and context side by
#   side. `readout`: three vectors of size $e$ are *added*, and dropout acts on the sum.
# * `forward`: embed, `start`, loop, and collect the states' first half, contexts and weights. One
#   `readout` for all words after the loop.


# %% exercise
class CaptionDecoder(nn.Module):
    """An LSTM that describes a picture, looking at it before every word.

    (h_0, c_0) = (tanh(W_h m + b_h), tanh(W_c m + b_c)),  m = mean_i a_i
    z_t = attention(h_{t-1}, a_1 ... a_N),  (h_t, c_t) = LSTM([E y_{t-1}; z_t], (h_{t-1}, c_{t-1}))
    logits_t = L_o (E y_{t-1} + L_h h_t + L_z z_t) + b_o

    Parameters: `embedding.weight` E (V, e); `first_state.weight` W_h (d, d_k) and `.bias`;
    `first_memory.weight` W_c (d, d_k) and `.bias`; `cell.*`, those of `nn.LSTMCell(e + d_k, d)`;
    `state_output.weight` L_h (e, d) and `context_output.weight` L_z (e, d_k), no bias;
    `output.weight` L_o (V, e) and `.bias`; and `attention.*`. Here e = embedding_size,
    d = hidden_size and d_k = key_size. In training, `dropout` acts on what L_o reads.

    Source: Xu et al. (2015), equations 1 to 3 and 7, section 3.1.2.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        key_size: int,
        attention: nn.Module,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.first_state = nn.Linear(key_size, hidden_size)
        self.first_memory = nn.Linear(key_size, hidden_size)
        self.cell = nn.LSTMCell(embedding_size + key_size, hidden_size)
        self.state_output = nn.Linear(hidden_size, embedding_size, bias=False)
        self.context_output = nn.Linear(key_size, embedding_size, bias=False)
        self.output = nn.Linear(embedding_size, vocabulary_size)
        self.attention = attention
        self.dropout = nn.Dropout(dropout)

    def start(self, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the state before the first word.

        Args:
            annotations: (B, N, d_k).

        Returns:
            h_0 (B, d) and c_0 (B, d).
        """
        ### BEGIN SOLUTION
        mean = annotations.mean(dim=1)  # (B, d_k)
        return torch.tanh(self.first_state(mean)), torch.tanh(self.first_memory(mean))
        ### END SOLUTION

    def step(
        self, embedded: Tensor, state: tuple[Tensor, Tensor], annotations: Tensor
    ) -> tuple[tuple[Tensor, Tensor], Tensor, Tensor]:
        """Look at the picture, then move on by one word.

        Args:
            embedded: E y_{t-1}, (B, e).
            state: h_{t-1} (B, d) and c_{t-1} (B, d).
            annotations: (B, N, d_k).

        Returns:
            the new state (h_t, c_t), the context z_t (B, d_k) and the weights (B, N).
        """
        ### BEGIN SOLUTION
        context, weights = self.attention(state[0], annotations)  # (B, d_k), (B, N)
        state = self.cell(torch.cat([embedded, context], dim=1), state)  # 2 x (B, d)
        return state, context, weights
        ### END SOLUTION

    def readout(self, embedded: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """Score every word of the vocabulary.

        Args:
            embedded: E y_{t-1}, (..., e).
            states: h_t, (..., d).
            contexts: z_t, (..., d_k).

        Returns:
            logits (..., V).
        """
        ### BEGIN SOLUTION
        mixed = embedded + self.state_output(states) + self.context_output(contexts)  # (..., e)
        return self.output(self.dropout(mixed))  # (..., V)
        ### END SOLUTION

    def forward(self, tokens: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Score every next word of captions that are known (teacher forcing).

        Args:
            tokens: the words so far, y_0 ... y_{T-1}, (B, T); y_0 is <bos>.
            annotations: (B, N, d_k).

        Returns:
            logits (B, T, V) and weights (B, T, N).
        """
        ### BEGIN SOLUTION
        embedded = self.embedding(tokens)  # (B, T, e)
        state = self.start(annotations)
        states, contexts, weights = [], [], []
        for word in embedded.unbind(dim=1):  # (B, e)
            state, context, alpha = self.step(word, state, annotations)
            states.append(state[0])
            contexts.append(context)
            weights.append(alpha)
        logits = self.readout(embedded, torch.stack(states, 1), torch.stack(contexts, 1))
        return logits, torch.stack(weights, 1)  # (B, T, V), (B, T, N)
        ### END SOLUTION


# %% [markdown]
# ## Your own captioner
#
# The next cells put it to work. They need the check above to pass, and those of `attention.ipynb`. Save that
# notebook: the next cell reads from the disk your `annotation_vectors`, your `SoftAttention` and your penalty (for question 1).
#
# The pictures are drawn by the course: two or three objects on a grey ground, each with a caption such as "a
# small red circle above a blue square". Since they are drawn, the course knows which pixels every word is
# about. Nobody tells the model: it sees pictures and captions, nothing else.
#
# First a small convolutional network learns to name single objects; its last map, 8 by 8 locations, becomes the
# list of annotations. Then your decoder learns from the annotations of 3,000 pictures. Both together take half a
# minute to a minute and a half on a CPU. With `COURSEKIT_SIZE=full`, set before you start Jupyter, there are more pictures and
# more epochs.

# %% demo together
# from coursekit.notebook.session import import_answers
#
# import_answers("attention.ipynb")

# %% demo encoder
# from coursekit.notebook import settings
# from coursekit.models.captioning import (
#     Classifier,
#     PictureEncoder,
#     caption_batches,
#     class_batches,
#     classification_loss,
#     feature_maps,
#     pictures_of,
# )
# from coursekit.corpora.scenes import scenes, splits
# from coursekit.training import seed_everything, train
# from coursekit.text.vocabulary import PAD, WordVocabulary
#
# number, epochs = {"quick": (3000, 14), "full": (4000, 40)}[settings.size()]
# data = splits(number, 0, 300, seed=1)
# seed_everything(1)
# encoder = PictureEncoder()
# single = scenes(number, seed=2, objects=(1, 1))
# train(
#     Classifier(encoder),
#     lambda epoch: class_batches(single, 32, seed=epoch),
#     classification_loss,
#     epochs=4,
#     learning_rate=0.01,
#     decay=True,
# )
# words = WordVocabulary([scene.words for scene in data.train])
# captions = [words.encode(scene.words) for scene in data.train]
# annotations = annotation_vectors(feature_maps(encoder, pictures_of(data.train)))
# print("annotations", tuple(annotations.shape), "of", len(captions), "pictures")

# %% demo train
# import torch.nn.functional as F
#
#
# def loss(model, batch):
#     logits, weights = model(batch.previous, batch.annotations)  # (B, T, V), (B, T, N)
#     return F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=PAD)
#
#
# seed_everything(1)
# look = SoftAttention(query_size=64, key_size=50, hidden_size=16)
# model = CaptionDecoder(len(words), 32, 64, 50, look)
# history = train(
#     model,
#     lambda epoch: caption_batches(annotations, captions, 48, seed=epoch),
#     loss,
#     epochs=epochs,
#     learning_rate=0.01,
#     decay=True,
# )
# print("loss per epoch:", ", ".join(f"{x:.2f}" for x in history.column("loss")))

# %% [markdown]
# It describes pictures it has not seen. The last line says how many captions of the test set are right from
# the first to the last word; a caption with one wrong word counts as wrong.

# %% demo describe
# from coursekit.models.captioning import greedy_captions
#
# test = annotation_vectors(feature_maps(encoder, pictures_of(data.test)))
# found = greedy_captions(model, test)
# written = [words.decode(caption.ids) for caption in found]
# true = [" ".join(scene.words) for scene in data.test]
# for i in range(5):
#     print("the picture  ", true[i])
#     print("your model   ", written[i], "\n")
# right = sum(a == b for a, b in zip(written, true)) / len(true)
# print(f"{right:.0%} of the captions are right in every word")

# %% [markdown]
# And this is where it looked: first the picture itself, then one for each word. The brighter a location, the larger its weight. The lines above the pictures compare that with
# the truth: for each kind of word the mean share of the weight that lies on the objects the word is about, when the
# model reads the true caption, against the share of the picture that these objects cover.

# %% demo picture
# import matplotlib.pyplot as plt
#
# from coursekit.plots import style
# from coursekit.models.captioning import attention_weights, measure_region_attention
#
# style.use(photographs=True)
# scene, caption = data.test[0], found[0]
# shown = words.tokens(caption.ids)
# columns = 5
# rows = -(-(len(shown) + 1) // columns)
# figure, panels = plt.subplots(rows, columns, figsize=(7.0, 1.6 * rows), layout="constrained")
# for panel in panels.flat:
#     panel.set_axis_off()
# panels.flat[0].imshow(scene.picture)
# panels.flat[0].set_title("the picture", fontsize=9)
# for panel, word, weights in zip(panels.flat[1:], shown, caption.weights):
#     share = weights.reshape(8, 8) / weights.max()
#     light = share.repeat_interleave(6, 0).repeat_interleave(6, 1).unsqueeze(2)  # (48, 48, 1)
#     panel.imshow(torch.tensor(scene.picture) / 255 * (0.45 + 0.55 * light))
#     panel.set_title(word, fontsize=9)
# where = attention_weights(model, test, [words.encode(scene.words) for scene in data.test])
# for kind, one in measure_region_attention(where, data.test).items():
#     print(f"{kind:9} {one.share:.0%} of the weight, {one.chance:.0%} of the picture")

# %% [markdown] play-text-picture
# **Predict, then run.** Look at the picture first and say which words will get a sharp look and which a blurred one. Then find a
# picture that the model describes wrongly.

# %% play picture
# number = 7  # which picture of the test set
# scene, caption = data.test[number], found[number]
# print("the picture", true[number])
# print("your model ", written[number])
# figure, panels = plt.subplots(1, len(caption.ids) + 1, figsize=(1.3 * len(caption.ids), 1.6), layout="constrained")
# for panel in panels:
#     panel.set_axis_off()
# panels[0].imshow(scene.picture)
# for panel, word, weights in zip(panels[1:], words.tokens(caption.ids), caption.weights):
#     panel.imshow(weights.reshape(8, 8), vmin=0)
#     panel.set_title(word, fontsize=9)

# %% [markdown] questions
# **To think about.** Given cells are locked: copy one (*Edit*, *Copy Cells*, *Paste*), change
# one thing in the copy, and train again:
#
# 1. Add `0.01 * doubly_stochastic_penalty(weights, batch.mask)` to the loss. Does the model look elsewhere, and
#    are the captions better or worse? How many words would a caption need to give all 64 locations their look?
# 2. Let `SoftAttention.beta` return ones. Which words did the gate close for? (Print `look.beta(...)` for
#    the states of one caption.)
# 3. Find a wrong word and look at the locations it came from. Did the model look at the right object and misname
#    it, or did it look at the wrong object?

# %% answers
# 1. 64 locations have 64 units of attention to get, and a caption of ten words has ten units to
#    give: it would need 64 words to give each location its look. So the penalty cannot be met; it
#    spreads the weights, and with them away from the objects that are described. Expect captions
#    to be no better and looks to be blunter. Pictures like these have locations not worth a look.
# 2. For words that the picture does not decide: *a*, and the end of the caption. The number that
#    `beta` gives before those is lower than before colours and shapes, if the gate has learned it;
#    without the gate the decoder has to ignore the context by other means, and on a small task it
#    can.
# 3. Both occur. If the weight lies on the right object and the word is wrong, the annotation or
#    the vocabulary's layer confused, for example, two colours or two sizes. If the weight lies on
#    another object, the word usually fits that one. The second kind shows when two objects of a
#    picture share a colour or a form.

# %% [markdown] open-task
# ## An open task
#
# Get nine in ten captions right in every word within three minutes of training. Where do the mistakes come from: from the map (8 by 8 locations,
# 50 channels), from the look or from the words? Count the wrong words by their kind before you change anything.
#
# | | |
# | --- | --- |
# | ours, one run on a CPU | the model of this notebook: 72 % of the captions right |
# | yours | |
