"""Hard attention in a captioner: sampled locations, trained by REINFORCE."""

from __future__ import annotations

import copy
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.models.captioning import CaptionBatch
from coursekit.text.vocabulary import PAD
from solutions.captioning.attention import SoftAttention, hard_attention, reinforce_loss
from solutions.captioning.captioner import CaptionDecoder

REINFORCE = 0.1  # weight of the REINFORCE loss against the words' cross entropy
ENTROPY = 0.005  # weight of the entropy, which keeps attention from converging too early


class HardAttention(nn.Module):
    """Attention to one location: sampled in training, the most probable one at inference.

    The gate is that of the soft attention.

    Args:
        soft: soft attention, which computes the weights and the gate.
        soft_share: share of training pictures that get soft attention at every word.
    """

    def __init__(self, soft: SoftAttention, soft_share: float = 0.0):
        super().__init__()
        self.soft, self.soft_share = soft, soft_share
        self.is_soft = torch.empty(0, dtype=torch.bool)  # (B,), pictures with soft attention
        self.log_probs: list[Tensor] = []  # of the sampled locations, (B,) for each word
        self.entropies: list[Tensor] = []  # of the weights, (B,) for each word

    def forward(self, query: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gated annotation of one location, (B, d_k), and the weights (B, N)."""
        expected, weights = self.soft(query, annotations)  # (B, d_k), (B, N)
        gate = self.soft.beta(query).unsqueeze(1)  # (B, 1)
        if not self.training:
            best = weights.argmax(dim=1)  # (B,)
            return gate * annotations[torch.arange(len(best), device=best.device), best], weights
        if not self.log_probs:  # the caption begins
            self.is_soft = torch.rand(len(gate), device=gate.device) < self.soft_share
        context, _, log_prob = hard_attention(weights, annotations)
        self.log_probs.append(log_prob.masked_fill(self.is_soft, 0.0))
        # Where a weight is exactly 0, the gradient of its entropy is infinite.
        self.entropies.append(torch.special.entr(weights.clamp(min=1e-12)).sum(dim=1))
        return torch.where(self.is_soft.unsqueeze(1), expected, gate * context), weights


class Reinforce:
    """The loss of hard attention: words, REINFORCE for the sampled locations, and entropy.

    The reward of a picture's locations is log p(caption | locations). The baseline is a moving
    average of the batches' mean rewards, b <- 0.9 b + 0.1 R, without pictures that are soft; it
    begins with the mean of the first batch. The entropy is that of all pictures.

    Args:
        baseline: whether to use a baseline; else b = 0.
        weight: of the REINFORCE loss, lambda_r.
        entropy_weight: lambda_e.

    Source: Xu et al. (2015), section 4.1.
    """

    def __init__(
        self, baseline: bool = True, weight: float = REINFORCE, entropy_weight: float = ENTROPY
    ):
        self.baseline, self.weight, self.entropy_weight = baseline, weight, entropy_weight
        self.average: float | None = None

    def sample(self, model: nn.Module, batch: CaptionBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Sample locations; return reward (B,), log-probabilities (B, T) and entropies (B, T)."""
        attention: Any = model.attention
        attention.log_probs, attention.entropies = [], []
        logits, _ = model(batch.previous, batch.annotations)  # (B, T, V)
        reward = -F.cross_entropy(
            logits.transpose(1, 2), batch.target, ignore_index=PAD, reduction="none"
        ).sum(dim=1)  # (B,)
        return reward, torch.stack(attention.log_probs, 1), torch.stack(attention.entropies, 1)

    def __call__(self, model: nn.Module, batch: CaptionBatch) -> Tensor:
        """Return the loss per word."""
        reward, log_prob, entropy = self.sample(model, batch)
        attention: Any = model.attention
        hard = reward.detach()[~attention.is_soft]  # (R,)
        if self.average is None and len(hard):
            self.average = hard.mean().item()
        baseline = self.average if self.baseline and self.average is not None else 0.0
        policy_loss = reinforce_loss(log_prob, reward.detach(), baseline, batch.mask)
        if self.average is not None and len(hard):
            self.average = 0.9 * self.average + 0.1 * hard.mean().item()
        per_word = len(batch.target) / batch.mask.sum()
        bonus = entropy[batch.mask].mean()
        return per_word * (self.weight * policy_loss - reward.mean()) - self.entropy_weight * bonus


def to_hard_attention(model: CaptionDecoder) -> CaptionDecoder:
    """Return a copy of a soft-attention decoder that attends to one location at a time."""
    harder = copy.deepcopy(model)
    harder.attention = HardAttention(harder.attention)  # type: ignore[arg-type]
    return harder
