# The lib that home-manager hands to modules, as far as home.nix uses it: when a step is, and what.
lib: lib // { hm.dag.entryBetween = before: after: data: { inherit before after data; }; }
