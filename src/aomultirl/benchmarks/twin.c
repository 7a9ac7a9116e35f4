/* What a careful C programmer would write by hand for the same work as the compiled engine.
 *
 * All sizes are known at run time only, as they are to the engine, unless they are told to the compiler: with
 * -DSTATES=16 -DACTIONS=4 -DWIDTH=2 exploring is made for worlds of these sizes alone.  Every function does the same arithmetic in the
 * same order as its twin in Python, so results are equal to the last bit (compile with -ffp-contract=off).
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef STATES
#define FREEZE_SIZES(n_states, n_actions, width) ((n_states) = STATES, (n_actions) = ACTIONS, (width) = WIDTH)
#else
#define FREEZE_SIZES(n_states, n_actions, width) ((void)0)
#endif

static inline uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

/* xoshiro256++, as in engine/random.py. */
typedef struct {
    uint64_t s0, s1, s2, s3;
} Stream;

static inline uint64_t draw(Stream *w)
{
    const uint64_t bits = rotate(w->s0 + w->s3, 23) + w->s0;
    const uint64_t t = w->s1 << 17;
    w->s2 ^= w->s0;
    w->s3 ^= w->s1;
    w->s1 ^= w->s2;
    w->s0 ^= w->s3;
    w->s2 ^= t;
    w->s3 = rotate(w->s3, 45);
    return bits;
}

static inline uint64_t draw_below(uint64_t n, Stream *w) { return ((draw(w) >> 32) * n) >> 32; }

/* Alias tables, as in engine/sampling.py. */
static inline uint64_t pick(const uint64_t *restrict heads, const uint64_t *restrict cells, int64_t width,
                            uint64_t pair, uint64_t bits)
{
    const uint64_t head = width >= 0 ? 0 : heads[pair];
    const uint64_t k = width >= 0 ? (uint64_t)width : head & 63;
    const uint64_t first = width >= 0 ? pair << k : head >> 6;
    const uint64_t *cell = cells + 2 * (first + ((bits >> 1) >> (63 - k)));
    const uint64_t own = (uint32_t)cell[1], alias = cell[1] >> 32;
    /* Both are at hand before the choice, so this is a conditional move: a branch could not be predicted. */
    return (bits << k) >= cell[0] ? alias : own;
}

/* Follow plan[s] for `steps` steps from *state.  counts: (S * A, S).  Returns the reward collected. */
double follow(const uint64_t *restrict heads, const uint64_t *restrict cells, int64_t width,
              const double *restrict rewards, const int32_t *restrict plan, int64_t n_states, int64_t n_actions,
              int64_t steps, int64_t *restrict state, Stream *restrict stream, int64_t *restrict counts)
{
    Stream world = *stream;
    uint64_t s = (uint64_t)*state;
    double total = 0.0;
    for (int64_t step = 0; step < steps; step++) {
        const uint64_t pair = s * (uint64_t)n_actions + (uint64_t)plan[s];
        s = pick(heads, cells, width, pair, draw(&world));
        total += rewards[pair];
        counts[pair * (uint64_t)n_states + s]++;
    }
    *stream = world;
    *state = (int64_t)s;
    return total;
}

/* ExploreID (exploring/explore_id.py): the action of a state is kept in plan[s] for left[s] more visits, the longest
 * for which nothing can change it.  n_actions stands for "at random", -1 for "not known". */
typedef struct {
    uint64_t n_states, n_actions;
    int64_t needed, open_pairs;
    const uint8_t *targets; /* (S * A) */
    int64_t *counts;        /* (S * A, S) */
    int64_t *open;          /* (S), targets of a state that lack samples */
    int64_t *left;
    int64_t *scores; /* (2, A), for one decision */
    int32_t *plan;
} Explorer;

static int64_t visits_of(const Explorer *e, uint64_t pair)
{
    const int64_t *row = e->counts + pair * e->n_states;
    int64_t total = 0;
    for (uint64_t t = 0; t < e->n_states; t++)
        total += row[t];
    return total;
}

/* The most advanced action that lacks samples. */
static void sample_here(Explorer *e, uint64_t s, Stream *agent)
{
    int64_t best = -1;
    uint64_t tied = 0;
    for (uint64_t a = 0; a < e->n_actions; a++) {
        const uint64_t pair = s * e->n_actions + a;
        if (!e->targets[pair])
            continue;
        const int64_t visits = visits_of(e, pair);
        if (visits >= e->needed || visits < best)
            continue;
        tied = visits > best ? 1 : tied + 1;
        best = visits;
    }
    uint64_t skip = tied == 1 ? 0 : draw_below(tied, agent);
    for (uint64_t a = 0; a < e->n_actions; a++) {
        const uint64_t pair = s * e->n_actions + a;
        if (e->targets[pair] && visits_of(e, pair) == best && skip-- == 0) {
            e->plan[s] = (int32_t)a;
            e->left[s] = e->needed - best;
            return;
        }
    }
}

/* Forget what was decided for the states that nothing is sampled in. */
static void forget(Explorer *e)
{
    for (uint64_t s = 0; s < e->n_states; s++)
        if (e->open[s] == 0)
            e->plan[s] = -1;
}

/* The action most likely to lead to a state that lacks samples; scores are compared as fractions x / n. */
static void move_on(Explorer *e, uint64_t s, Stream *agent)
{
    int64_t *x = e->scores, *n = e->scores + e->n_actions;
    int64_t best_x = 0, best_n = 1, second_x = 0, second_n = 1;
    uint64_t best = e->n_actions, tied = 0;
    for (uint64_t a = 0; a < e->n_actions; a++) {
        const int64_t *row = e->counts + (s * e->n_actions + a) * e->n_states;
        x[a] = n[a] = 0;
        for (uint64_t t = 0; t < e->n_states; t++) {
            n[a] += row[t];
            x[a] += e->open[t] > 0 ? row[t] : 0;
        }
        if (x[a] == 0)
            continue;
        if (x[a] * best_n > best_x * n[a]) {
            second_x = best_x, second_n = best_n;
            best_x = x[a], best_n = n[a];
            best = a, tied = 1;
        } else if (x[a] * best_n == best_x * n[a]) {
            tied++;
        } else if (x[a] * second_n > second_x * n[a]) {
            second_x = x[a], second_n = n[a];
        }
    }
    e->left[s] = INT64_MAX;
    if (tied > 1) {
        uint64_t skip = draw_below(tied, agent);
        for (best = 0; x[best] == 0 || x[best] * best_n != best_x * n[best] || skip-- > 0; best++) {
        }
        e->left[s] = 1;
    } else if (second_x > 0) {
        /* As long as best_x / (best_n + j) is above the second best. */
        e->left[s] = (best_x * second_n - 1) / second_x - best_n + 1;
    }
    e->plan[s] = (int32_t)best;
}

/* After the visits that a decision was good for; a target that has its samples changes what others aim at. */
static void look_again(Explorer *e, uint64_t s, uint64_t pair)
{
    e->plan[s] = -1;
    if (e->open[s] > 0 && e->targets[pair] && visits_of(e, pair) >= e->needed) {
        e->open_pairs--;
        if (--e->open[s] == 0)
            forget(e);
    }
}

/* Act uniformly at random for `steps` steps. */
static double wander(const uint64_t *restrict heads, const uint64_t *restrict cells, int64_t width,
                     const double *restrict rewards, uint64_t n_states, uint64_t n_actions, int64_t steps,
                     int64_t *restrict state, Stream *restrict world_stream, Stream *restrict agent_stream,
                     int64_t *restrict counts)
{
    Stream world = *world_stream, agent = *agent_stream;
    uint64_t s = (uint64_t)*state;
    double total = 0.0;
    for (int64_t step = 0; step < steps; step++) {
        const uint64_t pair = s * n_actions + draw_below(n_actions, &agent);
        s = pick(heads, cells, width, pair, draw(&world));
        total += rewards[pair];
        counts[pair * n_states + s]++;
    }
    *world_stream = world;
    *agent_stream = agent;
    *state = (int64_t)s;
    return total;
}

/* The clustering phase: ExploreID until every target has `needed` samples, then at random up to `steps` steps.
 * counts: (S * A, S), zero.  *done: the steps until every target had its samples, `steps` if they never had, -1
 * without memory.  Returns the reward collected. */
double explore(const uint64_t *restrict heads, const uint64_t *restrict cells, int64_t width,
               const double *restrict rewards, const uint8_t *targets, int64_t needed, int64_t n_states,
               int64_t n_actions, int64_t steps, int64_t *restrict state, Stream *restrict world_stream,
               Stream *restrict agent, int64_t *counts, int64_t *restrict done)
{
    FREEZE_SIZES(n_states, n_actions, width);
    const uint64_t S = (uint64_t)n_states, A = (uint64_t)n_actions;
    int64_t *open = calloc(2 * S + 2 * A, sizeof(int64_t));
    int32_t *plan = malloc(S * sizeof(int32_t));
    *done = -1;
    if (open == NULL || plan == NULL) {
        free(open);
        free(plan);
        return 0.0;
    }
    int64_t *left = open + S;
    Explorer e = {S, A, needed, 0, targets, counts, open, left, left + S, plan};
    for (uint64_t pair = 0; pair < S * A; pair++) {
        open[pair / A] += targets[pair];
        e.open_pairs += targets[pair];
    }
    for (uint64_t i = 0; i < S; i++)
        plan[i] = -1;

    Stream world = *world_stream;
    uint64_t s = (uint64_t)*state;
    double total = 0.0;
    int64_t step = 0;
    while (step < steps && e.open_pairs > 0) {
        if (plan[s] < 0) {
            if (open[s] > 0)
                sample_here(&e, s, agent);
            else
                move_on(&e, s, agent);
        }
        uint64_t a = (uint64_t)plan[s];
        const int random = a == A;
        if (random)
            a = draw_below(A, agent);
        const uint64_t pair = s * A + a;
        const uint64_t next = pick(heads, cells, width, pair, draw(&world));
        total += rewards[pair];
        counts[pair * S + next]++;
        step++;
        if (--left[s] == 0 || (random && open[next] > 0))
            look_again(&e, s, pair);
        s = next;
    }
    *world_stream = world;
    *state = (int64_t)s;
    *done = step;
    free(open);
    free(plan);
    return total + wander(heads, cells, width, rewards, S, A, steps - step, state, world_stream, agent, counts);
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
