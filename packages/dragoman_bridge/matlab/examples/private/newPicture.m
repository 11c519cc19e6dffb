function picture = newPicture()
% A figure without a window.
  if exist('OCTAVE_VERSION', 'builtin') && any(strcmp(available_graphics_toolkits(), 'gnuplot'))
    warning('off', 'Octave:gnuplot-graphics', 'local');
    graphics_toolkit('gnuplot');
  end
  picture = figure('Visible', 'off');
end
