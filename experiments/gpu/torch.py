# Images a second of ResNet-50 in PyTorch, eager, forward and as a training step, from tensors that lie on the device.
# torch.py DEVICE PRECISION BATCH SIDE BLOCKS SECONDS prints one line of JSON; exit code 9 where torch has no such device.
import json
import sys
import time

device, precision, batch, side = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
blocks, least = [int(n) for n in sys.argv[5].split(",")], float(sys.argv[6])
try:
    import torch
    from torch import nn
except ImportError as e:
    print(e)
    sys.exit(9)
if device.startswith("cuda") and not torch.cuda.is_available():
    print("torch", torch.__version__, "finds no GPU")
    sys.exit(9)
torch.backends.cudnn.allow_tf32 = precision == "TF32"
torch.backends.cuda.matmul.allow_tf32 = precision == "TF32"


class Block(nn.Module):
    def __init__(self, inputs, width, stride, first):
        super().__init__()
        self.a = nn.Conv2d(inputs, width, 1)
        self.b = nn.Conv2d(width, width, 3, stride, 1)
        self.c = nn.Conv2d(width, 4 * width, 1)
        self.way = nn.Conv2d(inputs, 4 * width, 1, stride) if first else nn.Identity()

    def forward(self, x):
        return torch.relu(self.c(torch.relu(self.b(torch.relu(self.a(x))))) + self.way(x))


layers, inputs = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
for stage, count in enumerate(blocks):
    for i in range(count):
        layers.append(Block(inputs, 64 << stage, min(2, stage + 1) if i == 0 else 1, i == 0))
        inputs = 256 << stage
torch.manual_seed(5)
net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()).to(device)
pictures = torch.randn(batch, 3, side, side, device=device)


def finish():
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def rate(run):
    for _ in range(3):
        run()
    finish()
    began, n = time.perf_counter(), 0
    while True:
        run()
        finish()
        n += 1
        if time.perf_counter() - began >= least:
            return n * batch / (time.perf_counter() - began)


def forward():
    with torch.no_grad():
        half(pictures16)


half, pictures16 = net, pictures
if precision == "float16":
    import copy

    half, pictures16 = copy.deepcopy(net).half(), pictures.half()
values = {"batch": batch, "images_per_second": rate(forward)}
if precision != "float16":
    solver = torch.optim.Adam(net.parameters(), lr=1e-9)
    slope = torch.randn(batch, inputs, device=device)

    def step():
        solver.zero_grad()
        (net(pictures) * slope).sum().backward()
        solver.step()

    values["training_images_per_second"] = rate(step)
print(json.dumps({"values": values, "text": "torch " + torch.__version__}))
