function drawn = surf(heights, varargin)
% Without a display: what would be drawn.
  drawn = struct('heights', heights, 'colors', []);
  if ~isempty(varargin) && isnumeric(varargin{1})
    drawn.colors = varargin{1};
  end
end
