{ config, lib, pkgs, baseName, format, diskSize, partitionTableType ? "legacy", bootSize ? "256M" }:
pkgs.writeText "${baseName}.${format}" (builtins.toJSON { inherit diskSize partitionTableType bootSize; system = "${config.system.build.toplevel}"; })
