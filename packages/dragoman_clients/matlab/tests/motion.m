% What the client makes of the platform's status while it waits for a motion. FILE of the environment:
% packages/dragoman_neobotix/src/program/motions.txt.
1;

cases = 0;
statuses = 0;
isFirst = false;
for line = strsplit(fileread(getenv('FILE')), "\n")
  words = strsplit(strtrim(line{1}));
  if isempty(words{1}) || words{1}(1) == '#', continue, end
  if strcmp(words{1}, 'case')
    name = line{1};
    cases = cases + 1;
    isFirst = true;
  elseif isFirst
    watch = Neobotix.motionWatch(words{1});
    isFirst = false;
  else
    isReached = strcmp(words{3}, '1');
    [watch, report] = Neobotix.motionReport(watch, str2double(words{1}), words{2}, isReached);
    if ~strcmp(report, words{4}), error('%s: %s: %s', name, line{1}, report); end
    statuses = statuses + 1;
  end
end
assert(cases == 14);
printf('motions: %d, statuses: %d\n', cases, statuses);
