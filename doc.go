// Package winnow trains image embeddings on labels that cannot be trusted, and finds wrong labels. It holds no code:
// this page says which package does what, in the order in which an image passes through them, and its examples run as
// tests.
//
//	datasets            which images, how labelled; noise models; readers of published datasets and other tools' files
//	backbone            an image file becomes a vector; backbone/ort runs networks with ONNX Runtime, the only cgo;
//	                    backbone/graph: ONNX models as data, and a network's derivative as another network
//	features            labelled vectors, the [winnow/features.Set] that everything passes on; stores of them
//	losses              a number and its gradient by each vector
//	filters             which labels of a batch look right, while training
//	head                vectors become embeddings on the unit sphere
//	train               the training loop; train/peers and train/selective: other ways to learn from wrong labels
//	run                 a configuration (run/config) and data become a trained head, kept in a folder (run/folder)
//	eval                retrieval, clusters, classifiers on embeddings
//	audit               which labels of a whole set are wrong; audit/suspects: the list on disk
//	report              charts and pages; report/review: the page on which people decide about suspects
//	search              the nearest of many stored vectors
//	models              known networks, heads on disk, both as one ONNX file; models/architecture: new networks
//	papers              the settings, tables and bounds of five papers
//
// The shortest ways:
//
//	wrong labels        audit.Run(ctx, set, audit.Options{Whiten: true})
//	a trained head      run.Train(ctx, config.Default(), run.Input{Data: &data}, run.Options{}), data of run.NewData
//	the network too     run.Train(ctx, cfg, run.Input{}, run.Options{Dir: "run"}) with cfg.Finetune.Weights = "all"
//	how good it is      eval.Retrieve(ctx, embedded, nil, eval.RetrievalOptions{})
//	one loss            losses.New("circle", nil, losses.Env{Dim: d, Classes: n}), then Eval(&grad, set, nil)
//	neighbours          eval.Nearest(ctx, queries, &set, 10, 0)
//	… in an index       search.Nearest(ctx, index, queries, 10, nil)
//	one ONNX file       models.Join(backbone, head, nil)
//
// Matrix products are gonum's in plain Go unless a program links ONNX Runtime, as all do that import run or report,
// others by
//
//	import _ "winnow/backbone/ort"
//
// and finds its library (winnow runtime install, or $WINNOW_ORT_LIB); then they are ten to twenty times as fast,
// without a call. ort.Doctor says which computes and why. The other packages build without cgo.
package winnow
