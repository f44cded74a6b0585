### Texts of requests.
