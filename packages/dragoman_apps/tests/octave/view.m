function view(~)
end
