function writeTable(file, head, rows)
% Writes a CSV file.
  id = fopen(file, 'w');
  if id < 0, error('cannot write %s', file); end
  fprintf(id, '%s\n', head);
  fprintf(id, [strjoin(repmat({'%.6f'}, 1, size(rows, 2)), ',') '\n'], rows');
  fclose(id);
end
