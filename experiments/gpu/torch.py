# Images a second of networks in PyTorch, eager. torch.py DEVICE says which versions it has, in a line of JSON, then answers each line of
# JSON on stdin, {"network", "task": "train" or "forward", "precision", "batch", "side", "blocks", "seconds"}, with one on stdout,
# {"values", "text"} or {"error"}. Exit code 9: no torch, or none with this device.
#
# Networks are those that winnow computes: without classifier, and each BatchNorm folded into the convolution before it, which then has
# a bias. Weights are random. Training is forward, backward and Adam (foreach, its default on a GPU) over all weights.
import json
import sys
import time

device = sys.argv[1]
try:
    import torch
    from torch import nn
except ImportError as e:
    print(e, file=sys.stderr)
    sys.exit(9)
if device.startswith("cuda") and not torch.cuda.is_available():
    print("torch", torch.__version__, "finds no GPU", file=sys.stderr)
    sys.exit(9)
cuda = device.startswith("cuda")
said = "torch " + torch.__version__
try:
    import torchvision

    said += ", torchvision " + torchvision.__version__
except Exception as e:
    torchvision = None
    said += ", no torchvision (%s)" % e
try:
    import timm

    said += ", timm " + timm.__version__
except Exception as e:
    timm = None
    said += ", no timm (%s)" % e


class Block(nn.Module):
    def __init__(self, inputs, width, stride, first):
        super().__init__()
        self.a = nn.Conv2d(inputs, width, 1)
        self.b = nn.Conv2d(width, width, 3, stride, 1)
        self.c = nn.Conv2d(width, 4 * width, 1)
        self.way = nn.Conv2d(inputs, 4 * width, 1, stride) if first else nn.Identity()

    def forward(self, x):
        return torch.relu(self.c(torch.relu(self.b(torch.relu(self.a(x))))) + self.way(x))


def written(blocks):
    """ResNet without torchvision, with these blocks a stage."""
    layers, inputs = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate(blocks):
        for i in range(count):
            layers.append(Block(inputs, 64 << stage, min(2, stage + 1) if i == 0 else 1, i == 0))
            inputs = 256 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())


def fold(net):
    """Folds each BatchNorm, of statistics 0 and 1, into the convolution registered before it."""
    for parent in net.modules():
        before = None
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.BatchNorm2d) and isinstance(before, nn.Conv2d) and before.bias is None:
                before.bias = nn.Parameter(torch.zeros(before.out_channels))
                setattr(parent, name, nn.Identity())
            before = child
    left = sum(isinstance(m, nn.BatchNorm2d) for m in net.modules())
    if left:
        raise RuntimeError("%d BatchNorm were not folded" % left)
    return net


def build(name, side, blocks):
    torch.manual_seed(5)
    if name == "resnet50" and (torchvision is None or blocks != [3, 4, 6, 3]):
        return written(blocks)
    if name == "vit_small":
        if timm is None:
            raise RuntimeError("no timm")
        return timm.create_model("vit_small_patch16_224", pretrained=False, num_classes=0, img_size=side)
    if torchvision is None:
        raise RuntimeError("no torchvision")
    if name == "resnet50":
        net = torchvision.models.resnet50(weights=None)
        net.fc = nn.Identity()
    elif name == "mobilenet_v2":
        net = torchvision.models.mobilenet_v2(weights=None)
        net.classifier = nn.Identity()
    elif name == "googlenet":
        net = torchvision.models.googlenet(weights=None, aux_logits=False, transform_input=False, init_weights=False)
        net.dropout = net.fc = nn.Identity()
    else:
        raise RuntimeError("no network " + name)
    return fold(net)


def finish():
    if cuda:
        torch.cuda.synchronize()


def seconds(run, least):
    """Seconds of a run: after three that warm up, as many without waiting between them as take the time."""
    for _ in range(3):
        run()
    finish()
    began = time.perf_counter()
    run()
    finish()
    n = max(3, int(least / max(1e-6, time.perf_counter() - began)))
    began = time.perf_counter()
    for _ in range(n):
        run()
    finish()
    return (time.perf_counter() - began) / n


built = {}


def network(name, side, blocks):
    """The network on the device, kept while the next question is about the same one."""
    key = name, side, tuple(blocks)
    if key not in built:
        built.clear()
        built[key] = build(name, side, blocks).eval().to(device)
    return built[key]


def forward(q, net, pictures):
    if q["precision"] == "float16":
        import copy

        net, pictures = copy.deepcopy(net).half(), pictures.half()

    def run():
        with torch.no_grad():
            net(pictures)

    return {"images_per_second": q["batch"] / seconds(run, q["seconds"])}, []


def train(q, net, pictures):
    with torch.no_grad():
        slope = torch.randn_like(net(pictures))
    solver = torch.optim.Adam(net.parameters(), lr=1e-9)

    def step(x):
        solver.zero_grad()
        (net(x) * slope).sum().backward()
        solver.step()

    values = {"images_per_second": q["batch"] / seconds(lambda: step(pictures), q["seconds"])}
    notes = []
    try:
        host = pictures.cpu()
        if cuda:
            host = host.pin_memory()
        values["copied_images_per_second"] = q["batch"] / seconds(lambda: step(host.to(device, non_blocking=True)), q["seconds"])
    except Exception as e:
        notes.append("copied: %s" % e)
    if cuda:
        torch.backends.cudnn.benchmark = True
        try:
            values["benchmark_images_per_second"] = q["batch"] / seconds(lambda: step(pictures), q["seconds"])
        except Exception as e:
            notes.append("benchmark: %s" % e)
        finally:
            torch.backends.cudnn.benchmark = False
    solver.zero_grad(set_to_none=True)
    return values, notes


def answer(q):
    tf32 = q["precision"] == "TF32"
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = False
    net = network(q["network"], q["side"], q["blocks"])
    pictures = torch.randn(q["batch"], 3, q["side"], q["side"], device=device)
    values, notes = {"train": train, "forward": forward}[q["task"]](q, net, pictures)
    values["batch"] = q["batch"]
    if cuda:
        values["memory_mib"] = torch.cuda.max_memory_allocated() / 2**20
    return {"values": values, "text": "; ".join([said] + notes)}


print(json.dumps({"text": said}), flush=True)
for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except Exception as e:  # of this question; the next one may do
        built.clear()
        reply = {"error": "%s: %s" % (type(e).__name__, e)}
    if cuda:
        try:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        except Exception as e:
            reply = {"error": "%s; then %s" % (reply.get("error", ""), e)}
    print(json.dumps(reply), flush=True)
