"""Reference solutions of the exercises in han/network."""

# %% setup
import torch
from torch import Tensor, nn


# %% read
def read(rnn: nn.Module, x: Tensor, lengths: Tensor) -> Tensor:
    """Run a recurrent network over padded sequences, which may be empty: (B, N, i) -> (B, N, 2d)."""
    compact = nn.utils.rnn.pack_padded_sequence(
        x, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
    )
    return nn.utils.rnn.pad_packed_sequence(
        rnn(compact)[0], batch_first=True, total_length=x.shape[1]
    )[0]


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
