"""SLURM scripts: what the fixture leaves out."""

from __future__ import annotations

from tests.launch.conftest import Read


def test_directives_end_with_the_script_not_with_the_words(read: Read) -> None:
    (launch,) = read(
        """
        #!/bin/bash
        #SBATCH --job-name="a b" --export NONE,SGLANG_A=1
        ##SBATCH --export=SGLANG_OFF=1
        #SBATCH -p gpu   # --export=SGLANG_COMMENT=1
        srun -n1 --export=ALL,SGLANG_B=2 --container-env=X sglang serve --model-path /m --tp $SLURM_GPUS
        """
    )
    assert launch.format == "slurm"
    assert {name: setting.value for name, setting in launch.environment.items()} == {"SGLANG_A": "1", "SGLANG_B": "2"}
    assert launch.unresolved == ("$SLURM_GPUS",)


def test_the_step_is_a_wrapper(read: Read) -> None:
    launches = read(
        """
        #!/bin/bash
        #SBATCH -N 2
        for rank in 0 1; do
          srun -w node$rank --gpus-per-node 8 --cpu-bind=none python3 -m sglang.launch_server \\
            --model-path /m --node-rank $rank &
        done
        srun --mpi=pmix singularity exec --nv -B /m:/m /images/sglang_v0.5.9.sif sglang serve --model-path /m
        """
    )
    assert [launch.values.get("node_rank") for launch in launches] == [0, 1, None]
    assert [launch.sglang_version.version if launch.sglang_version is not None else None for launch in launches] == [None, None, "0.5.9"]
