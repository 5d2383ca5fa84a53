package cluster

// What the help of winnow cluster says.
const (
	AboutSlurm = "Prints a shell script; sh runs it, or --submit does. It writes into OUT.slurm, beside the --out of COMMAND, the script of an array\n" +
		"whose tasks each make one part, that of the join, which waits for them (afterok), and submit.sh, which hands both to sbatch. More\n" +
		"commands may follow, each behind another --: a stage waits for the one before, and is dealt too where it takes --shard.\n\n" +
		"A task that fails goes back to the queue, --retries times; one that is out of time is stopped two minutes before, keeps its work and\n" +
		"goes on; one that is misused (exit code 2) is not tried again. Parts that are there are not made twice. How each try ended is noted in\n" +
		"OUT.slurm; winnow cluster status reads that. Unless --time and --mem say otherwise they follow from winnow extract --dry-run here.\n\n" +
		"   winnow cluster slurm --tasks 64 --gpus 1 -- extract --manifest birds.csv --root birds --model resnet50 --out features > birds.sh\n" +
		"   winnow cluster slurm --tasks 8 --submit -- data check birds.csv --root birds --out check.json"
	AboutKubernetes = "Prints manifests for kubectl apply: an Indexed Job whose pods each make one part, and a Job whose pod waits until all are there and\n" +
		"joins them. All pods see the volume of --claim, at --mount; where --manifest, --root and --out of extract are addresses in an object store\n" +
		"none is needed, and pods make their parts in a folder that goes with them. A pod that is disrupted does not count as failed, one that is misused\n" +
		"(exit code 2) is not tried again, others --retries times. --tasks is needed unless the paths of COMMAND lead to the images here, too.\n\n" +
		"   winnow cluster kubernetes --tasks 64 --mem 4GiB --image winnow --claim birds -- extract --manifest birds.csv --root birds --model resnet50 --out features"
	AboutStatus = "Reads the parts in OUT.parts, and where winnow cluster slurm made the job its notes in OUT.slurm, squeue and sacct. Every part that is not\n" +
		"there has a line: missing, begun or torn; what Slurm says of its task; how its last try ended; its log. The last line is the command to\n" +
		"run now. The exit code is 0 once all parts are there, else 1.\n\n" +
		"   winnow cluster status features\n" +
		"   until winnow cluster status features; do sleep 60; done; winnow join features"
)
