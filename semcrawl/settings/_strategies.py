"""Settings of strategies, of randomness, and of image search."""

# --- Strategies by links: PageRank, RW

#: Strategies with PageRank (`pagerank`, `weighted-pagerank`, `ipagerank`, `domain-score`): share of
#: a page's rank that its links pass on (d), 0 to 0.999.
SEMCRAWL_PAGERANK_DAMPING = 0.85

#: The same strategies: most links over which rank is passed on after each page; with weights, also
#: links that are weighted again. More links make ranks exact sooner and cost more CPU.
SEMCRAWL_PAGERANK_UPDATES = 500

#: The same strategies: most links of fetched pages in memory, some 300 bytes each with their
#: addresses. Those of the pages fetched first are forgotten first.
SEMCRAWL_PAGERANK_LINKS = 1_000_000

#: Strategies `relevance-weighting`, `ipagerank` and `domain-score`: least similarity to the topic
#: (0 to 1) of a word of a link that counts (c).
SEMCRAWL_RW_THRESHOLD = 0.5

#: Strategies `relevance-weighting` and `ipagerank`: whether to drop links without a word that
#: reaches the threshold. Otherwise they wait behind the others.
SEMCRAWL_RW_PRUNE = False

#: Strategy `domain-score`: temperature of the softmax over domains. A domain whose score is better
#: by this much is drawn e times as often. A low temperature draws only the best domain.
SEMCRAWL_DOMAIN_TEMPERATURE = 0.1

#: Strategy `domain-score`: learning rate of the weights of a domain's score, 0 to 0.5; after n
#: outcomes it is multiplied by 1/√n.
SEMCRAWL_DOMAIN_LEARNING_RATE = 0.1

#: Strategy `domain-score`: number of random domains linking to a page whose mean is its score, if
#: no page of its own domain links to it.
SEMCRAWL_DOMAIN_GROUPS = 3

# --- Randomness and the learned model

#: Seed of the strategies that draw random numbers (`random`, ties of `learned`).
SEMCRAWL_RANDOM_SEED = 0

#: Strategy `learned`: file with the model of another crawl to start with, written by `semcrawl
#: frontier --export-model`. Empty: none.
SEMCRAWL_MODEL = ""

#: Strategy `learned`: constants of the model by name (a mapping, or JSON): the fields of
#: `LearnedOptions` in `semcrawl/relevance/learned/options.py`.
SEMCRAWL_LEARNED_OPTIONS: dict[str, object] = {}

# --- Image search

#: Most query classes into which near texts of images are grouped.
SEMCRAWL_IMAGE_CLASSES = 800

#: Least cosine (0 to 1) between a text or query and the centre of its query class.
SEMCRAWL_IMAGE_CLASS_NEARNESS = 0.6

#: Share (0 to 1) of the picture in the probability of an image's class; its texts give the rest.
SEMCRAWL_IMAGE_PICTURE_SHARE = 0.4

#: Whether `semcrawl images` keeps queries in `images.db`, to suggest them later, and clicks on what
#: they found, by which later answers are ordered.
SEMCRAWL_IMAGE_QUERIES_KEPT = True
