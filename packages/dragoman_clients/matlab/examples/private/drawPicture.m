function drawPicture(file, words, labels, names, varargin)
% Draws curves into an SVG file, without a window. A failure is only a warning, so that the caller's result is not lost.
%   labels: of x and y; with the same unit (the text after the comma) both axes have one scale
%   names: of the curves; varargin: arguments of plot
  try
    if exist('OCTAVE_VERSION', 'builtin') && any(strcmp(available_graphics_toolkits(), 'gnuplot'))
      warning('off', 'Octave:gnuplot-graphics', 'local');
      graphics_toolkit('gnuplot');
    end
    picture = figure('Visible', 'off');
    plot(varargin{:});
    units = regexprep(labels, '.*, ', '');
    if strcmp(units{1}, units{2}), axis equal, end
    title(words);
    xlabel(labels{1});
    ylabel(labels{2});
    legend(names, 'Location', 'northeastoutside');
    grid on
    print(picture, file, '-dsvg');
    close(picture);
    fprintf('see %s\n', file);
  catch problem
    fprintf('%s was not drawn: %s\n', file, strtrim(problem.message));
    if exist('OCTAVE_VERSION', 'builtin'), disp('GNU Octave draws with gnuplot: sudo apt-get install gnuplot-nox'); end
  end
end
