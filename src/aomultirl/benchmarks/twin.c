/* What a careful C programmer would write by hand for the same work as the compiled engine.
 *
 * All sizes are known at run time only, as they are to the engine.  Every function does the same arithmetic in the
 * same order as its twin in Python, so results are equal to the last bit (compile with -ffp-contract=off).
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static inline uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

/* Follow plan[s] for `steps` steps from *state; the layouts are those of engine/sampling.py and engine/random.py.
 * counts: (S * A, S).  Returns the reward collected. */
double follow(const uint64_t *restrict heads, const uint64_t *restrict cells, int64_t width,
              const double *restrict rewards, const int32_t *restrict plan, int64_t n_states, int64_t n_actions,
              int64_t steps, int64_t *restrict state, uint64_t *restrict stream, int64_t *restrict counts)
{
    uint64_t s0 = stream[0], s1 = stream[1], s2 = stream[2], s3 = stream[3];
    uint64_t s = (uint64_t)*state;
    double total = 0.0;
    for (int64_t step = 0; step < steps; step++) {
        const uint64_t pair = s * (uint64_t)n_actions + (uint64_t)plan[s];
        const uint64_t bits = rotate(s0 + s3, 23) + s0;
        const uint64_t t = s1 << 17;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= t;
        s3 = rotate(s3, 45);

        const uint64_t head = width >= 0 ? 0 : heads[pair];
        const uint64_t k = width >= 0 ? (uint64_t)width : head & 63;
        const uint64_t first = width >= 0 ? pair << k : head >> 6;
        const uint64_t *cell = cells + 2 * (first + ((bits >> 1) >> (63 - k)));
        const uint64_t own = (uint32_t)cell[1], alias = cell[1] >> 32;
        /* Both are at hand before the choice, so this is a conditional move: a branch could not be predicted. */
        s = (bits << k) >= cell[0] ? alias : own;

        total += rewards[pair];
        counts[pair * (uint64_t)n_states + s]++;
    }
    stream[0] = s0;
    stream[1] = s1;
    stream[2] = s2;
    stream[3] = s3;
    *state = (int64_t)s;
    return total;
}

/* Backward induction over successor lists.  values: (H + 1, S), its last row given; policy: (H, S). */
void plan_by_rows(const int64_t *restrict starts, const int32_t *restrict states, const double *restrict probs,
                  const double *restrict gains, const double *restrict caps, int64_t n_states, int64_t n_actions,
                  int64_t horizon, double *values, int32_t *restrict policy)
{
    for (int64_t h = horizon - 1; h >= 0; h--) {
        const double cap = caps[h];
        const double *restrict following = values + (h + 1) * n_states;
        double *restrict current = values + h * n_states;
        int32_t *restrict actions = policy + h * n_states;
        int64_t pair = 0;
        for (int64_t s = 0; s < n_states; s++) {
            double best = -INFINITY;
            int32_t best_action = 0;
            for (int32_t a = 0; a < n_actions; a++, pair++) {
                double total = 0.0;
                for (int64_t i = starts[pair]; i < starts[pair + 1]; i++)
                    total += probs[i] * following[states[i]];
                double q = gains[pair] + total;
                q = q < cap ? q : cap;
                if (q > best) {
                    best = q;
                    best_action = a;
                }
            }
            current[s] = best;
            actions[s] = best_action;
        }
    }
}

/* sums[pair] = sum_j columns[j, pair] * values[j] for `width` pairs, four columns at a time. */
static void expect(const double *restrict columns, int64_t n_pairs, const double *restrict values, int64_t n_states,
                   int64_t width, double *restrict sums)
{
    int64_t j = 0;
    for (int64_t p = 0; p < width; p++)
        sums[p] = 0.0;
    for (; j + 4 <= n_states; j += 4) {
        const double *restrict a = columns + j * n_pairs, *restrict b = a + n_pairs;
        const double *restrict c = b + n_pairs, *restrict d = c + n_pairs;
        const double x = values[j], y = values[j + 1], z = values[j + 2], w = values[j + 3];
        for (int64_t p = 0; p < width; p++)
            sums[p] = (((sums[p] + a[p] * x) + b[p] * y) + c[p] * z) + d[p] * w;
    }
    for (; j < n_states; j++) {
        const double *restrict a = columns + j * n_pairs;
        const double x = values[j];
        for (int64_t p = 0; p < width; p++)
            sums[p] += a[p] * x;
    }
}

/* Backward induction over columns[s', pair], `block` states at a time so that their sums stay in the first-level
 * cache.  Returns 0, or -1 where there is no memory for the sums. */
int plan_by_columns(const double *restrict columns, const double *restrict gains, const double *restrict caps,
                    int64_t n_states, int64_t n_actions, int64_t horizon, int64_t block, double *values,
                    int32_t *restrict policy)
{
    const int64_t n_pairs = n_states * n_actions;
    const size_t bytes = ((size_t)(block * n_actions) * sizeof(double) + 63) / 64 * 64;
    double *restrict sums = aligned_alloc(64, bytes);
    if (sums == NULL)
        return -1;
    for (int64_t h = horizon - 1; h >= 0; h--) {
        const double cap = caps[h];
        const double *restrict following = values + (h + 1) * n_states;
        double *restrict current = values + h * n_states;
        int32_t *restrict actions = policy + h * n_states;
        for (int64_t first = 0; first < n_states; first += block) {
            const int64_t last = first + block < n_states ? first + block : n_states;
            expect(columns + first * n_actions, n_pairs, following, n_states, (last - first) * n_actions, sums);
            for (int64_t s = first; s < last; s++) {
                double best = -INFINITY;
                int32_t best_action = 0;
                for (int32_t a = 0; a < n_actions; a++) {
                    double q = gains[s * n_actions + a] + sums[(s - first) * n_actions + a];
                    q = q < cap ? q : cap;
                    if (q > best) {
                        best = q;
                        best_action = a;
                    }
                }
                current[s] = best;
                actions[s] = best_action;
            }
        }
    }
    free(sums);
    return 0;
}
