function yes = fails(action, identifier)
% Whether an action fails with this error.
  yes = false;
  try
    action();
  catch err
    yes = strcmp(err.identifier, identifier);
    if ~yes
      fprintf('%s: %s\n', err.identifier, err.message);
    end
  end
end
