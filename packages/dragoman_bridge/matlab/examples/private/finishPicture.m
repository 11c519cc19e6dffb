function finishPicture(picture, words, xLabel, yLabel, names, file)
% Labels a figure, and writes it as an SVG file.
  title(words);
  xlabel(xLabel);
  ylabel(yLabel);
  legend(names, 'Location', 'northeastoutside');
  grid on
  print(picture, file, '-dsvg');
  close(picture);
  fprintf('see %s\n', file);
end
