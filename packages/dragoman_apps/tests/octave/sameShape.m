function sameShape(given, wanted, where)
% Checks that a message has exactly these fields with their classes.
  assert(isstruct(given) && isequal(sort(fieldnames(given)), sort(fieldnames(wanted))), '%s: other fields', where);
  for name = fieldnames(wanted)'
    [a, b] = deal(given.(name{1}), wanted.(name{1}));
    assert(strcmp(class(a), class(b)), '%s.%s is %s, not %s', where, name{1}, class(a), class(b));
    if isstruct(b)
      sameShape(a, b, where);
    elseif isnumeric(b)
      assert(isscalar(a) && isfinite(double(a)), '%s.%s is no number', where, name{1});
    end
  end
end
