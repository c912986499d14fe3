#!/bin/sh
# An array of tasks that see one file system; each analyses its share of the shards.
#
#   foretell plan big.ftr -o shards
#   sbatch --array=1-64 slurm.sh
#   foretell merge part-*.json -o report.json    # once the array has ended
#
#SBATCH --job-name=foretell
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --requeue

foretell predict --plan shards --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --jobs 1 --memory 3G --time-limit none -o "part-$SLURM_ARRAY_TASK_ID.json"

# 1 is a race, 3 are undecided pairs: only 2 is a failure.
[ $? -ne 2 ]
