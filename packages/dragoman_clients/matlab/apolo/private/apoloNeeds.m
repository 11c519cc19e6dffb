function apoloNeeds(given, names)
% Refuses a call without these arguments. Octave has functions of the names of some, such as time, and would take their values.
  if given < numel(names)
    error('apolo:arguments', 'the argument %s is missing; the call needs %s', names{given + 1}, strjoin(names, ', '));
  end
end
