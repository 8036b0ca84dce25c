"""Settings of strategies, of chance, and of the search of images."""

# --- Strategies by links: PageRank, RW

#: The strategies with PageRank in them (`pagerank`, `weighted-pagerank`, `ipagerank`,
#: `domain-score`): the share of a page's rank that goes on along its links (d), 0 to 0.999.
SEMCRAWL_PAGERANK_DAMPING = 0.85

#: The same strategies: links over which rank is passed on after each page, at most; with weights
#: also links that are weighed again. More make ranks exact sooner and cost more CPU.
SEMCRAWL_PAGERANK_UPDATES = 500

#: The same strategies: links of fetched pages that are held in memory, some 300 bytes each with
#: their addresses. Those of the pages fetched first are forgotten.
SEMCRAWL_PAGERANK_LINKS = 1_000_000

#: Strategies `relevance-weighting`, `ipagerank` and `domain-score`: similarity to the topic (0 to
#: 1) below which no word of a link counts (c).
SEMCRAWL_RW_THRESHOLD = 0.5

#: Strategies `relevance-weighting` and `ipagerank`: whether links none of whose words reaches the
#: threshold are dropped. Otherwise they wait behind the others.
SEMCRAWL_RW_PRUNE = False

#: Strategy `domain-score`: temperature of the softmax over domains. One whose score is better by so
#: much is drawn e times as often; a small one takes the best domain only.
SEMCRAWL_DOMAIN_TEMPERATURE = 0.1

#: Strategy `domain-score`: learning rate of the weights of a domain's score, 0 to 0.5; after n
#: outcomes it is less by 1/√n.
SEMCRAWL_DOMAIN_LEARNING_RATE = 0.1

#: Strategy `domain-score`: domains that link to a page, chosen at random, whose mean is its score
#: where no page of its own domain links to it.
SEMCRAWL_DOMAIN_GROUPS = 3

# --- Chance

#: Seed of the strategies that use chance (`random`, ties of `learned`).
SEMCRAWL_RANDOM_SEED = 0

#: Strategy `learned`: a file with the weights of another crawl, to start from (`semcrawl frontier
#: --export-model` writes it); empty: none.
SEMCRAWL_MODEL = ""

#: Strategy `learned`: constants of the model by name (a mapping, or JSON): the fields of
#: `LearnedOptions` in `semcrawl/relevance/learned/options.py`.
SEMCRAWL_LEARNED_OPTIONS: dict[str, object] = {}

# --- Search of images

#: Query classes that near texts of images are grouped into, at most.
SEMCRAWL_IMAGE_CLASSES = 800

#: Cosine (0 to 1) with the centre of a query class from which on a text or a query belongs to it.
SEMCRAWL_IMAGE_CLASS_NEARNESS = 0.6

#: Share (0 to 1) of the probability of an image's class that its picture gives; its texts give the
#: rest.
SEMCRAWL_IMAGE_PICTURE_SHARE = 0.4

#: Whether queries to `semcrawl images` are kept in `images.db`, to be offered again.
SEMCRAWL_IMAGE_QUERIES_KEPT = True
