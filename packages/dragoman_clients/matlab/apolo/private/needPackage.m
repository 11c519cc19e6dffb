function needPackage(name)
% Loads a package of Octave, or fails with a text that explains its installation.
  try
    pkg('load', name);
  catch
    error('dragoman:noPackage', 'the package %s of Octave is missing: apt-get install octave-%s', name, name);
  end
end
