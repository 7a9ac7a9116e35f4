"""Slow, obvious versions of kernels that several tests compare with."""


def slow_xoshiro(words, count):
    """xoshiro256++ with Python's unbounded integers."""
    mask = 2**64 - 1

    def rotate(x, k):
        return ((x << k) | (x >> (64 - k))) & mask

    s = [int(w) for w in words]
    out = []
    for _ in range(count):
        out.append((rotate((s[0] + s[3]) & mask, 23) + s[0]) & mask)
        t = (s[1] << 17) & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
    return out


def slow_step(world, state, action, bits):
    """The successor that 64 random bits lead to, by the world's alias tables."""
    tables = world.alias_tables
    head = int(tables.heads[state * world.n_actions + action])
    cell = (head >> 6) + (bits >> (64 - (head & 63)))
    threshold, both = int(tables.cells[2 * cell]), int(tables.cells[2 * cell + 1])
    return both & 0xFFFFFFFF if ((bits << (head & 63)) & (2**64 - 1)) < threshold else both >> 32
