-- Pay-level domains whose hosts are left out.

-- Whether a host is of one of them.
local function in_domains(host, domains)
  local name = string.gsub(host, ':%d+$', '')
  for _, domain in ipairs(domains) do
    if name == domain or string.sub(name, -#domain - 1) == '.' .. domain then return true end
  end
  return false
end

-- Whether links wait on hosts of other domains. (As a whole domain may have a share only beside
-- others; of many hosts some tell enough.)
local function others_wait(domains)
  for _, queue in ipairs(all_queues()) do
    for _, host in ipairs(call('HRANDFIELD', ROOT .. 'hosts:' .. queue, '20')) do
      if not in_domains(host, domains) then return true end
    end
  end
  return false
end
