"""Reads descriptions, each with positions of joints, as lines of JSON; writes what Pinocchio makes of them."""

import json
import math
import sys

import numpy
import pinocchio


def answer(request):
    try:
        model = pinocchio.buildModelFromXML(request["urdf"], mimic=True)
    except (RuntimeError, ValueError) as error:
        return {"error": str(error)}
    data = model.createData()
    joints = {name: model.joints[model.getJointId(name)] for name in model.names[1:]}
    limits = {}
    for name, joint in joints.items():
        if joint.nq == 1 and joint.nv == 1:
            low, high = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
            limits[name] = [float(low), float(high), float(model.velocityLimit[joint.idx_v])]
    poses = []
    for positions in request["positions"]:
        q = pinocchio.neutral(model)
        for name, value in positions.items():
            joint = joints[name]
            # A joint without limits is a point on the circle.
            values = [value] if joint.nq == 1 else [math.cos(value), math.sin(value)]
            q[joint.idx_q : joint.idx_q + joint.nq] = values
        pinocchio.framesForwardKinematics(model, data, q)
        bodies = [index for index, frame in enumerate(model.frames) if frame.type == pinocchio.FrameType.BODY]
        poses.append({model.frames[index].name: numpy.ravel(data.oMf[index].homogeneous).tolist() for index in bodies})
    return {"limits": limits, "poses": poses}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
