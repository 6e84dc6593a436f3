"""The estimate from random samples: held against allocations that are known, by playing the sampler many times."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from byte_sampling import estimates, sampled
from clrevents.analysis.shared.weights.allocations import PARTS, interval, sample_weights

MANY = 20
"""The normal distribution's interval is judged on types with more samples than that, on average."""


def test_a_sample_weighs_the_inverse_of_its_chance() -> None:
    sizes = np.array([24, 3_120, 85_000, 1 << 20, 10_000_000])
    chances = [1 - exp(-size / 102_400) for size in sizes.tolist()]
    found = sample_weights(sizes)
    wanted = [size / chance for size, chance in zip(sizes.tolist(), chances, strict=True)]
    assert (
        found.bytes.tolist() == [round(bytes) for bytes in wanted] == [102_412, 103_968, 150_713, 1_048_613, 10_000_000]
    )
    assert [parts / PARTS for parts in found.object_parts.tolist()] == pytest.approx([1 / c for c in chances])
    variances = [weight**2 * (1 - chance) for weight, chance in zip(wanted, chances, strict=True)]
    assert found.variance.tolist() == pytest.approx(variances, rel=1e-9, abs=1)


def test_sizes_that_are_nothing_and_sizes_that_are_vast() -> None:
    found = sample_weights(np.array([0, 1, (1 << 43) - 1]))
    assert found.bytes.tolist() == [102_400, 102_401, (1 << 43) - 1]
    assert [parts / PARTS for parts in found.object_parts.tolist()] == pytest.approx([0, 102_400.5, 1])
    assert found.variance.tolist()[2] == 0


@pytest.mark.parametrize(
    ("samples", "low", "high"),
    [
        (0, 0, 377_741),
        (1, 2_593, 570_536),
        (9, 421_414, 1_749_484),
        (10, 389_318, 1_658_682),
        (100, 8_232_960, 12_247_040),
    ],
)
def test_intervals_of_equal_samples(samples: int, low: int, high: int) -> None:
    """Below ten the limits of a Poisson distribution, of as many samples of 102,400 bytes."""
    bounds = interval([samples], [samples * 102_400], [samples * 102_400**2], [0])
    assert [int(bound[0]) for bound in bounds] == pytest.approx([low, high], abs=2)


def test_what_was_seen_is_the_least() -> None:
    """Objects of 10 MB are sampled for certain; ten small ones stand for much more than themselves."""
    big = sample_weights(np.array([10_000_000]))
    assert [bound.tolist() for bound in interval([1], big.bytes, big.variance, [10_000_000])] == [[10_000_000]] * 2
    low, _ = interval([1], [150_713], sample_weights(np.array([85_000])).variance, [85_000])
    assert low.tolist() == [85_000]


def test_the_sampler_draws_bytes() -> None:
    """Of equally large objects, as many as the chance says; large ones always, and each once."""
    rng = np.random.default_rng(1)
    assert sampled(np.cumsum(np.full(50, 5_000_000)), rng).tolist() == list(range(50))
    places = sampled(np.cumsum(np.full(2_000_000, 1_024)), rng)
    assert len(set(places.tolist())) == len(places)
    assert len(places) == pytest.approx(2_000_000 * (1 - exp(-0.01)), rel=0.03)


def mix(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The sizes and types of allocations of 200 types, from 24 bytes to 10 MB, shuffled."""
    rng = np.random.default_rng(seed)
    sizes, types = [], []
    for type, middle in enumerate(np.geomspace(24, 10_000_000, 200).tolist()):
        wanted = 10 ** rng.uniform(0.5, 2.4)
        count = int(min(wanted / (1 - exp(-middle / 102_400)), 20_000, 200_000_000 / middle)) + 1
        sizes.append(np.clip(middle * rng.lognormal(0, 0.3, count), 24, 10_000_000).astype(np.int64))
        types.append(np.full(count, type))
    order = rng.permutation(sum(map(len, sizes)))
    return np.concatenate(sizes)[order], np.concatenate(types)[order]


@pytest.mark.full
def test_a_mix_of_types_is_estimated_without_bias_and_covered() -> None:
    sizes, types = mix(7)
    truth = np.bincount(types, sizes).astype(np.int64)
    found = estimates(sizes, types, 1_000, seed=8)
    expected = found.samples.mean(axis=0)
    many = expected > MANY
    assert many.sum() > 80
    assert 0.93 < found.covers(truth)[:, many].mean() < 0.97
    # With few samples the Poisson distribution's limits are wider than they need to be, but never too narrow.
    assert found.covers(truth)[:, ~many].mean() > 0.93
    bias = found.bytes.mean(axis=0) / truth - 1
    spread = found.bytes.std(axis=0) / truth / 1_000**0.5
    assert abs(found.bytes.sum(axis=1).mean() / truth.sum() - 1) < 0.001
    assert abs(bias[many].mean()) < 0.01
    assert (np.abs(bias)[many] < np.maximum(0.01, 4.5 * spread[many])).all()
