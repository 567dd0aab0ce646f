% Starts the adapter for Octave, once, in an Octave of the version that the adapter was built with.  Octave runs the
% PKG_ADD of this folder, because `semcache run` puts the folder into OCTAVE_PATH.
function semcache_start ()
  persistent started = false;
  if (started)
    return;
  endif
  started = true;
  folder = fileparts (mfilename ("fullpath"));
  library = fullfile (folder, __octave_config_info__ ("api_version"), "semcache_octave.oct");
  if (exist (library, "file"))
    autoload ("semcache_octave", library);
    state = warning ();
    warning ("off", "all"); % Octave warns of operators that replace its own.
    semcache_octave ();
    warning (state);
  endif
endfunction
% SPDX-License-Identifier: BSD-2-Clause
