function track = patrolProgram(port, folder)
% patrolProgram  Lets a Neobotix platform patrol between its stations with a program, and draws where it was.
%
%   track = patrolProgram(port, folder)
%
%   port     of PlatformCtrl's protocol, default 10000
%   folder   for patrol.svg, default '.'
%   track    rows [x y angle], m and rad
%
%   The program is sent to the platform, which runs it alone; this function only looks on.
%
%   Example:
%     addpath ../clients
%     patrolProgram
%
%   See also Neobotix
  if nargin < 1, port = 10000; end
  if nargin < 2, folder = '.'; end
  stations = {'middle', 'north'};
  platform = Neobotix('127.0.0.1', port);
  % What earlier programs said.
  platform.getDebugData();
  steps = '';
  for i = 1:numel(stations)
    steps = [steps, sprintf(['<motion><settarget><station name="%s"/></settarget></motion>' ...
                             '<wait timeout="120000" timeoutlabel="late"><target/></wait>' ...
                             '<log type="info" message="at %s"/><wait><delay amount="1000"/></wait>'], ...
                            stations{i}, stations{i})]; %#ok<AGROW>
  end
  platform.setProgram(['<program version="1.0"><task name="patrol" id="1" priority="1" version="1.0">' steps ...
                       '<log type="info" message="patrol ended"/><motion stop="1"/><label name="late"/></task>' ...
                       '</program>']);
  platform.prepare('program');
  track = zeros(0, 3);
  scan = zeros(0, 2);
  words = '';
  began = tic;
  while isempty(strfind(words, 'patrol ended'))
    if toc(began) > 240, error('the patrol did not end'); end
    status = platform.getStatus();
    track(end + 1, :) = status.estimated; %#ok<AGROW>
    if mod(size(track, 1), 10) == 1, scan = [scan; status.scan(1:10:end, :)]; end %#ok<AGROW>
    said = platform.getDebugData().protocolQueue;
    for i = 1:numel(said)
      disp(said{i});
      words = [words ' ' said{i}]; %#ok<AGROW>
    end
    pause(0.1);
  end
  platform.stop();
  platform.close();
  fprintf('way %.2f m\n', sum(sqrt(sum(diff(track(:, 1:2)) .^ 2, 2))));
  drawPicture(fullfile(folder, 'patrol.svg'), 'A patrol with a program', {'x, m', 'y, m'}, ...
              {'laser', 'way of the platform'}, scan(:, 1), scan(:, 2), 'c.', track(:, 1), track(:, 2), 'b');
end
