package wait

type HTTPStrategy struct{}

func ForHTTP(path string) *HTTPStrategy { return &HTTPStrategy{} }

func (s *HTTPStrategy) WithPort(port string) *HTTPStrategy { return s }
