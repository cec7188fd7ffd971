"""Operations on a stopped, sick or new machine: doctor, backup and recovery."""
