function yes = isBytes(type)
% Whether rosbridge writes arrays of this type in base64.
  yes = any(strcmp(type, {'uint8', 'char', 'byte', 'octet'}));
end
