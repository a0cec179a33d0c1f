-- A module for Lmod: copy it to modulefiles/langford/2.0.lua, and change the folder to that of the installation.
local root = "/software/langford/2.0"

help([[Counts Langford pairings and their relatives.  Begin with: langford --help]])
whatis("Name: langford")
whatis("Version: 2.0")
prepend_path("PATH", pathJoin(root, "bin"))
-- Compiled kernels; a local disk is faster than a home folder on a network.
if os.getenv("TMPDIR") then
    setenv("XDG_CACHE_HOME", pathJoin(os.getenv("TMPDIR"), "cache"))
end
