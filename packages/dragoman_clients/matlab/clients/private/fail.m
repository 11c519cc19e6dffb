function fail(kind, varargin)
% Throws the error dragoman:kind.
  error(['dragoman:' kind], varargin{:});
end
