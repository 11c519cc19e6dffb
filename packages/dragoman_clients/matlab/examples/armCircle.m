function track = armCircle(port, folder)
% armCircle  Lets the tool of the Ranger arm drive around a circle, through via points, and measures how round it is.
%
%   track = armCircle(port, folder)
%
%   port     of the 31-byte protocol, default 5031
%   folder   for circle.svg, default '.'
%   track    rows [x y z] of the tool, m
%
%   The protocol has no circles: the arm drives straight lines between 16 via points. It begins at its home position; a
%   little below it is nearly singular.
%
%   Example:
%     addpath ../clients
%     armCircle
%
%   See also RangerArm
  if nargin < 1, port = 5031; end
  if nargin < 2, folder = '.'; end
  [radius, count] = deal(0.03, 16);
  arm = RangerArm('127.0.0.1', port);
  arm.enable();
  arm.setCommandMode('cartesian');
  [start, q] = arm.pose();
  rpy = [atan2(2 * (q(4) * q(1) + q(2) * q(3)), 1 - 2 * (q(1)^2 + q(2)^2)), ...
         asin(max(-1, min(1, 2 * (q(4) * q(2) - q(3) * q(1))))), ...
         atan2(2 * (q(4) * q(3) + q(1) * q(2)), 1 - 2 * (q(2)^2 + q(3)^2))];
  % The tool is at the lowest point of the circle, in the plane of y and z.
  center = start + [0 0 radius];
  angles = -pi / 2 + 2 * pi * (1:count)' / count;
  corners = center + radius * [zeros(count, 1), cos(angles), sin(angles)];
  arm.clearViaPoints();
  for i = 1:count
    arm.setViaPoint(i - 1, corners(i, :), rpy);
  end
  begin(arm);
  track = zeros(0, 3);
  wasAway = false;
  began = tic;
  while true
    track(end + 1, :) = arm.pose(); %#ok<AGROW>
    off = norm(track(end, :) - corners(end, :));
    wasAway = wasAway || off > radius;
    if wasAway && off < 0.003, break, end
    if toc(began) > 120, error('the arm did not come around'); end
    notices = arm.waitNotices(0.04);
    for i = 1:numel(notices), disp(notices{i}); end
  end
  arm.stop();
  arm.setCommandMode('off');
  distances = sqrt(sum((track(:, 2:3) - center(2:3)) .^ 2, 2));
  fprintf('%d poses, radius %.4f m, largest error %.1f mm\n', size(track, 1), mean(distances), ...
          1000 * max(abs(distances - radius)));
  drawPicture(fullfile(folder, 'circle.svg'), 'The tool around a circle', {'y, m', 'z, m'}, ...
              {'measured', 'via points'}, track(:, 2), track(:, 3), 'b', corners(:, 2), corners(:, 3), 'ro');
end

function begin(arm)
% The arm refuses a start while another motion ends.
  for attempt = 1:20
    try
      arm.executeViaPoints();
      return
    catch problem
      if ~strcmp(problem.identifier, 'dragoman:refused') || attempt == 20, rethrow(problem); end
      pause(0.2);
    end
  end
end
