package embedding

// SearchHelp says for a command what queries are, and what a search costs.
const SearchHelp = "QUERY is the path of an image that the index holds (which then does not find itself), a .npy file of vectors, or\n" +
	"images as winnow embed takes them: these are embedded by the model that made the index. Similarity is the cosine;\n" +
	"the search is exact, ties go to the image that came first.\n\n" +
	"Every call reads the whole index: with 512 values an image it takes 0.1 s of a core among 100,000 images, 0.7 s among a\n" +
	"million and 4 s among four million (8 GB), and for a hundred queries at once 0.2, 2 and 10 s. Beyond some ten million\n" +
	"images, or for many calls a second among millions, an approximate index is the better tool: --to asks a database that\n" +
	"winnow export --to has filled, as it names it. With --index, the same vectors, it also says the recall: how many of the\n" +
	"neighbours that the exact search finds the database found. Without, queries are paths that the database holds, .npy\n" +
	"files, or images with --model.\n\n" +
	"   winnow search --index birds.index unknown.jpg\n" +
	"   winnow search --index birds.features --manifest birds.csv 07.jpg --k 5\n" +
	"   winnow search --to 'postgres://me@db.example/photos?table=birds' --model runs/birds unknown.jpg"
