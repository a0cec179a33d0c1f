"""What tests share: databases, servers, browsers, brute force."""
