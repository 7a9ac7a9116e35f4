"""The errata of the paper that its bounds and constants depend on, by their numbers in ``docs/paper_map.md``.

What is no error but loose, or true of the released code alone, begins with "Remark".
"""

ERRATA = {
    2: "The minimax proof's delta = D / 4 means 4 / D; V* is then within D / 8 of H times the best gain, not D / 2.",
    3: "The minimax family has S A / 4 worlds, as stated; the proof prints S A.",
    4: "Identifying takes S A / (480 lambda^2) samples, as the proof yields, not 180; lambda above 1/2 is not covered.",
    5: "The tree of 2-JAO worlds must be shallow, D >= 4 ceil(log_A' (S / 3)), which D >= 16 alone does not give.",
    6: "The part that grows with ln K has S^2 A; the lemma for one world prints S^2 A^2.",
    7: "H0 is made of the bound on the hitting time, although Algorithm 1 prints the diameter's letter.",
    8: "L contains the whole horizon H, as in Theorem 16 and the bonus; the corollary and Theorem 20 print H1.",
    11: "External samples: the sum on the right must be the one without them; as printed it says X <= c X with c < 1.",
    12: "External samples: e (H+2) sqrt(K H L_N), not e (H+1) sqrt(K L_N).",
    13: "External samples: K1 (H0 + D), sqrt(M K1) and N + 2 H1 - 1, not K1 H0, sqrt(M K) and N + H1 - 1.",
    14: "Remark: the released N has 4 ln 2 for S ln 2, right only where every pair has at most four known successors.",
    17: "Theorem 20 needs K1 S A < K - K1 and K1 >= M: at least M (S A + 1) + 1 episodes.",
    18: "Remark: max{S, ln} is kept: the first term is of order S^2 A (Theorem 20: S M^2), not S A (M^2).",
    19: "UCBVI bounds the regret at the states reached, not at the worst; an Azuma term fits into the slack of 67.",
    21: "Each stage gets p / 2: Theorem 20's proof gives each the whole p, which makes 1 - 2 p, and not 1 - p.",
    22: "The grid's hitting time is 350,443 (in the released version infinite) and its diameter 11.508, not 7.",
    23: "The experiment's H0 of about 80,000 comes out of neither set; N = 128 l / lambda^2 would give 82,320.",
    27: "Remark: the released bonus is not the one of the theorems: their bounds are not proved for it.",
    28: "The proof for UCBVI needs L >= 4; below that the bounds exceed K H, so they hold all the same.",
    29: "Remark: K > M S^3 A H does not make the last part small: its constants and L^2 are left out there.",
}
